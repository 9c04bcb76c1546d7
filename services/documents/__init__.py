"""Documents: originals, readings, corrections and counts."""
