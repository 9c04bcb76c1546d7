"""The suite: mirrors the tree; real servers, no mocks of our own code."""
