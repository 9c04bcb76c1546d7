"""Define the names and messages shared by workflows and all other code."""
