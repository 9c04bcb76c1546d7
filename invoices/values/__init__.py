"""Parse numbers, dates, currencies and identifiers as invoices print them."""
