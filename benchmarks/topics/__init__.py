"""Benchmarks of tacit.topics."""
