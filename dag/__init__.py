"""The pure core: what a definition means and what a run does next. No clock, network, database or Temporal."""
