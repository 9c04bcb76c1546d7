"""Clients for external systems: PostgreSQL, file stores, Temporal, HTTP, Gemini, and the document sandbox."""
