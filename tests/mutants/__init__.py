"""Mistakes that the tests must notice: each is planted in a copy of the tree, and some test must fail."""
