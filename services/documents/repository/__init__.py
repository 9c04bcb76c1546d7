"""Store documents in PostgreSQL."""
