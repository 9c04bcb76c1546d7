"""Tests of definitions: a run simulated with mocked steps and scripted answers."""
