"""Find the line items and the tables they are in."""
