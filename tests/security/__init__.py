"""Attacks, each of which must fail."""
