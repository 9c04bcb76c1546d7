"""Documents coming in: uploads and repeated readings."""
