"""The HTTP API: routes that check a permission, call one operation and shape its answer."""
