"""The program of the processes in which the API performs costly checks (services/definitions/checks.py)."""

from functools import partial

from docrail.activities.registry import load_catalogue
from docrail.adapters.sandbox.forking import Program
from docrail.services.definitions.checks import child_program


def program(*sources: str) -> Program:
    """Return the program. `sources`: those of the installation's own handlers."""
    return child_program(partial(load_catalogue, sources))
