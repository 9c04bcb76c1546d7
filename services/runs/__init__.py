"""Runs: start, show, control and answer them."""
