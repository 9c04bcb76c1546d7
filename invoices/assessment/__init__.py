"""Assess how far a reading can be trusted: checks, confidence, calibration, duplicates, priority."""
