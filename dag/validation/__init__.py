"""Validate definitions: report every problem at once, with its position and a suggestion."""
