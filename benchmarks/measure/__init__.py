"""Benchmarks of tacit.measure."""
