"""Which clusters merge, and in what order: one algorithm for each kind of linkage."""
