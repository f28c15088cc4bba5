"""Search and near-duplicates."""
