"""Benchmarks of tacit.words."""
