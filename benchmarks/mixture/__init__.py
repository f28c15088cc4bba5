"""Benchmarks of tacit.mixture."""
