"""Run `docrail` as `python -m cli`."""

from docrail.cli import main

main()
