"""Open documents in restricted child processes."""
