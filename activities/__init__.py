"""Side effects: the handlers a step may name, and the one wrapper that runs them as Temporal activities."""
