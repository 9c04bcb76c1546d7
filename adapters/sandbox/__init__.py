"""The limited child processes that open documents."""
