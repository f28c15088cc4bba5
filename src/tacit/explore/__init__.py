"""The main job: documents in, structure out, a report at the end."""
