"""Find totals, taxes and the currency."""
