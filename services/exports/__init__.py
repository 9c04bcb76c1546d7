"""Pass approved documents on, as a file or as signed messages, and record which of them were exported."""
