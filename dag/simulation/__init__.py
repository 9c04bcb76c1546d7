"""Run tests of definitions: a simulated run with mocked steps and scripted answers."""
