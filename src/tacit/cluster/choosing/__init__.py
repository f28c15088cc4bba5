"""``choose_k``: how many clusters there are, and why."""
