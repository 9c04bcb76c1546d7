"""Rate limits of resource tags."""
