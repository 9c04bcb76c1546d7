"""Parse, check and evaluate expressions and templates at a bounded cost."""
