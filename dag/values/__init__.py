"""JSON values, JSON Schema, problems and costs: what every other folder of `dag` uses."""
