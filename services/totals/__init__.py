"""Show what the whole installation has done and what waits in it, over all tenants and workers, as metrics."""
