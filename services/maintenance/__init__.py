"""Scheduled work: retention, compaction and review deadlines."""
