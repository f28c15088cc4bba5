"""Benchmarks of tacit.language."""
