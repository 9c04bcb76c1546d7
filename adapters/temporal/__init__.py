"""Connect to a Temporal server, and drain workers."""
