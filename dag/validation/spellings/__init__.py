"""Normalise other spellings of a definition before it is checked."""
