"""Benchmarks of tacit.recommend."""
