"""Warn about valid definitions that probably do not do what their author wants."""
