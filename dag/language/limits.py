"""The largest numbers that a definition and a run may reach."""

LONGEST_WAIT_SECONDS = 31_536_000
"""A year: a timer beyond that is a mistake in a template."""


MAX_ITEMS = 10_000
"""Most items of one step. All of them are in the run's state, and what they give travels in one payload of 2 MiB."""


CHUNK_ITEMS = 250
"""Most items of a chunk, and of a list that runs without: each costs six events, and Temporal is slow above 10,000."""
