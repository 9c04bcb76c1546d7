"""`docrail settings`: each setting with its value and where it comes from. Needs no server."""

import os
from dataclasses import asdict
from typing import Annotated

import typer

from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout


def show(
    context: typer.Context,
    changed: Annotated[bool, typer.Option("--changed", help="Leave out settings that have their default.")] = False,
) -> Printout:
    """List the settings with their values and sources.

    A variable DOCRAIL_<NAME> takes precedence over the file of DOCRAIL_SETTINGS_FILE, the file over the defaults of the
    profile. Secrets are masked. Needs no server.

    Exit codes: 0 valid, 1 a setting is wrong, 2 wrong usage.

    Example: docrail settings --changed
    """
    from docrail.settings import explain_settings

    found = [each for each in explain_settings(context.obj(), os.environ) if not changed or each.source != "default"]
    rows = [[each.name, each.value or "-", each.source] for each in found]
    note = "" if rows else "All settings have their defaults."
    listing = Listing({"setting": ID, "value": TEXT, "source": TEXT}, rows)
    return Printout([asdict(each) for each in found], [note or listing])
