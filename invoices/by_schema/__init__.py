"""Reads the fields that a JSON Schema names from any document: by their labels, or from a model's answer."""
