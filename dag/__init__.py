"""Decide what a definition means and what a run does next, without a clock, network, database or Temporal."""
