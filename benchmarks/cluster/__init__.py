"""Benchmarks of tacit.cluster."""
