"""PDF files: words, pictures, drawings, and limits against malicious ones."""
