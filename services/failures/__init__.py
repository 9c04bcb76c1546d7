"""The dead-letter inbox: failed steps, retries and edits."""
