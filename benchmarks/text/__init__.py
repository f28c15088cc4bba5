"""Benchmarks of tacit.text."""
