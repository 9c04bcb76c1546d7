"""Run `docrail` as `python -m docrail`."""

from docrail.cli import main

main()
