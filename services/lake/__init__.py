"""Store decided and saved invoices as versioned Parquet and JSON files, and query them with SQL."""
