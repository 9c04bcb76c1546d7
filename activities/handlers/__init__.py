"""One file per handler; the registry finds each by its HANDLER. Heavy libraries are imported inside functions."""
