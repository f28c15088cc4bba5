"""k-medoids: clusters around one of their own items, by any distance."""
