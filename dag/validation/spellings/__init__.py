"""Other spellings of a definition, normalised before it is checked."""
