"""Define principals, and what they may do."""
