"""What Docrail does, a folder for each noun: service (rules), repository (SQL), models (what goes in and out)."""
