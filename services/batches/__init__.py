"""Run many documents together: a batch keeps a few of their runs open until all have ended."""
