"""The prompt for the LLM, and the conversion of its answer into an invoice."""
