"""Page layout: words with their positions, labels, columns and the vocabulary of labels."""
