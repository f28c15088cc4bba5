"""Benchmarks of tacit.classify."""
