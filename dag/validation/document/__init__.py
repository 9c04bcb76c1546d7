"""Provide what the rules share: the outline of a document, its schemas, and suggestions."""
