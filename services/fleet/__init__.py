"""The processes: health, deployments and the namespace."""
