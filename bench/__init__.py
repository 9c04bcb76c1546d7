"""Load scripts. Each prints JSON lines with the baseline it ran beside; none of them asserts a time."""
