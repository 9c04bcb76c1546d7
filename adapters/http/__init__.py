"""Outgoing HTTP: allowed addresses, size and time limits, signed webhooks."""
