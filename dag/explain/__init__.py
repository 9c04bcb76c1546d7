"""Facts about a run for people: why each step is in its state, and what a retry would do."""
