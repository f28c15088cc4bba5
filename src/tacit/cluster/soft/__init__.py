"""Clusters that rows belong to in part: fuzzy c-means and soft k-means."""
