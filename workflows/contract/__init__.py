"""What crosses the line between workflows and everything else: names and messages."""
