"""Find the invoice's number, dates, type and order reference."""
