"""``stability``: which clusters are found again on changed data."""
