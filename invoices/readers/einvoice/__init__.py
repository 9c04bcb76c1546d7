"""E-invoices: CII and UBL XML."""
