"""Define what a definition may contain."""
