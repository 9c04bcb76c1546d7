"""The one-machine stack: Temporal and PostgreSQL out of their wheels, the API and workers, in one tree of processes."""
