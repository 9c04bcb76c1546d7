"""Read e-invoices: CII and UBL XML."""
