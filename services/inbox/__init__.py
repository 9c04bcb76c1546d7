"""The inbox: every document with its status, and what people do with many documents at once."""
