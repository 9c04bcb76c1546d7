"""The SQL of reviews."""
