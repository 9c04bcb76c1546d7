"""Errors: what makes a definition invalid, one concern a file."""
