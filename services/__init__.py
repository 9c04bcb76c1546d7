"""Implement what Docrail does, one folder per noun: service (rules), repository (SQL), models (inputs and outputs)."""
