"""Benchmarks. Each prints JSON lines with the baseline it ran against; none of them asserts a time."""
