"""The longer commands of `docrail`, one file for what belongs together; program.py registers them."""
