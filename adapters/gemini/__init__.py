"""Gemini's API: one request, its cost and its errors."""
