"""Temporal workflows: the thin shell that carries the pure core's decisions out."""
