"""The steps of the way from documents to what is found in them, one file a step."""
