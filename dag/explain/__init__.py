"""Explain runs to people: why each step is in its state, and what a retry would do."""
