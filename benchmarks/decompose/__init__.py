"""Benchmarks of tacit.decompose."""
