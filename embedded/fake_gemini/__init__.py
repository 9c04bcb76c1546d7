"""A server on loopback that speaks Gemini's API, for tests and demos."""
