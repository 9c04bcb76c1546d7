"""Read definitions from YAML and JSON text, with the line and column of every value."""
