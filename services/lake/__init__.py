"""The lake: decided and saved invoices as Parquet, with versions and queries."""
