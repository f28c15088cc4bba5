"""Trees of clusters: models that build them, and what is done with them."""
