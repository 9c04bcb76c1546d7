"""Read PDF files: words, pictures and drawings, with limits against malicious files."""
