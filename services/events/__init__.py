"""Show callers what changes while it changes: kind, id and version of each object, never its content (ADR 39)."""
