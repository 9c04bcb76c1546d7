"""Model usage and its cost."""
