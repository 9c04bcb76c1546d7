"""The invoice's number and dates."""
