"""Run the one-machine stack: Temporal and PostgreSQL from their wheels, the API and workers, in one process tree."""
