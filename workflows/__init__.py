"""Define the Temporal workflows, which execute the decisions of the pure core."""
