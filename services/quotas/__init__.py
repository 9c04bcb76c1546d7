"""Quotas: how much of what all share a tenant, or one of its API keys, may use."""
