"""The PostgreSQL connection pool and schema."""
