"""The tests of definitions on a real Temporal server: the proof that the simulation is right."""
