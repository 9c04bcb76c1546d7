"""Health of the processes, and the Temporal namespace."""
