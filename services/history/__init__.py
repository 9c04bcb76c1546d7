"""Show the history of a document: what happened to it, and how its readings differ."""
