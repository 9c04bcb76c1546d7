"""Activities: the handlers that steps name, the wrapper that runs them, and the activities internal to workflows."""
