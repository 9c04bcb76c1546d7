"""The longer commands of `docrail`, one file for what belongs together; cli.py registers them."""
