"""Text recognition in pictures of pages."""
