"""Expressions and templates: parsing, checking and evaluating them at a bounded cost."""
