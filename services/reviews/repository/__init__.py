"""Store review items in PostgreSQL."""
