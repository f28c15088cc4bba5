"""k-means and its kin: hard clusters around centers."""
