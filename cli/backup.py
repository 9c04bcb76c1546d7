"""`docrail backup` and `docrail restore`: keep a copy of everything that `docrail up` stores."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from docrail.cli.printout import Printout
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import complain

if TYPE_CHECKING:
    from docrail.embedded.backup import Summary

Data = Annotated[
    Path | None, typer.Option("--data", help="The folder of `docrail up`. [DOCRAIL_DATA_DIR, else var]", metavar="DIR")
]


def back_up(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The archive to write, a tar file.", metavar="FILE")],
    data: Data = None,
) -> Printout:
    """Write a backup of the data of `docrail up` to one file.

    It contains Temporal's database, PostgreSQL's and the store, as they are at one instant. Docrail may run meanwhile,
    or not. The file also has the keys and secrets of the data folder: keep it as safe as that.

    Example: docrail backup /backup/docrail-2026-11-26.tar
    """
    from docrail.embedded import backup  # the databases' clients, which no other command needs

    settings = context.obj()
    store = settings.open_store() if settings.store else None
    made = run_or_exit(
        lambda: backup.back_up(data or settings.data_dir, file.expanduser(), store=store, report=complain)
    )
    return _printout(made, f"wrote {file}")


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An archive of `docrail backup`.", metavar="FILE")],
    data: Data = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is in the folder; it is kept under another name.")
    ] = False,
) -> Printout:
    """Restore a backup in an empty folder, for `docrail up`.

    The archive is checked completely before it gets there: if it is damaged, or of another version, nothing changes.
    Open runs go on at the next start where they were.

    Example: docrail restore /backup/docrail-2026-11-26.tar --data /srv/docrail
    """
    from docrail.embedded import backup  # the databases' clients, which no other command needs

    settings = context.obj()
    store = settings.open_store() if settings.store else None
    folder = data or settings.data_dir
    made = run_or_exit(
        lambda: backup.restore(file.expanduser(), folder.expanduser(), store=store, replace=force, report=complain)
    )
    return _printout(made, f"restored {folder}, as of {made.manifest.made_at}")


def _printout(made: "Summary", done: str) -> Printout:
    size = f"{made.files} files and both databases, {made.size / 1e6:.1f} MB, in {made.seconds:.1f} s"
    return Printout(asdict(made), f"{done}: {size}")
