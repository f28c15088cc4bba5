"""Benchmarks of the neural networks."""
