"""Connecting to a Temporal server, and draining workers."""
