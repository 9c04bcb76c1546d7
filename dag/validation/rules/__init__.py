"""Report what makes a definition invalid, one concern per file."""
