"""A loopback server that implements Gemini's API, for tests and demos."""
