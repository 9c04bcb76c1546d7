"""What `validate` looks at, one check a file, and what the checks share. They report and never stop at the first."""
