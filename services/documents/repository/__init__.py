"""The SQL of documents."""
