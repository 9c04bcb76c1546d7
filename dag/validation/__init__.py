"""Every problem of a definition at once, each with its place and a suggestion."""
