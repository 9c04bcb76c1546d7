"""Words on pages: geometry, labels, columns and the vocabulary."""
