"""Definitions, versions, aliases and routing rules."""
