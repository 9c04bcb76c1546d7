"""Define the largest numbers that a definition and a run may reach."""

LONGEST_WAIT_SECONDS = 31_536_000
"""One year. A longer timer is a mistake in a template."""

MAX_ITEMS = 10_000
"""Items per step. All of them are in the run's state, and their outputs share one payload of 2 MiB."""

CHUNK_ITEMS = 250
"""Items per chunk, and in a list that runs without chunks: each costs six events, and Temporal is slow above 10,000."""
