"""The connection pool and the schema."""
