"""Line items and their tables."""
