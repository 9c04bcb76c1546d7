"""Scheduled work: retention, compaction, deadlines of reviews."""
