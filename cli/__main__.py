"""Run `docrail` as `python -m cli`."""

from cli import main

main()
