"""The review queue: items, claims, corrections and decisions."""
