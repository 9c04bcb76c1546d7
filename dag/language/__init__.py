"""What a definition may say."""
