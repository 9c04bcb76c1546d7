"""Totals, taxes and currency."""
