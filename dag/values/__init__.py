"""Define JSON values, JSON Schema, problems and costs, which all other folders of `dag` use."""
