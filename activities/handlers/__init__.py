"""One file for each handler; the registry finds them by their HANDLER. Heavy libraries load inside functions."""
