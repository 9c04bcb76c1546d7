"""What Docrail talks to: PostgreSQL, file stores, Temporal, HTTP, Gemini, and the processes that open documents."""
