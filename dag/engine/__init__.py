"""Decide what a run does next: `transitions` writes the run's state, the other modules read it and decide."""
