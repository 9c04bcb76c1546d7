"""What a person or a system can do with Docrail: one async function each, for the API, the CLI and the console."""
