"""Definitions as text: YAML and JSON with the line and column of every value."""
