"""The HTTP API: routes that check a permission, call one service and return its result."""
