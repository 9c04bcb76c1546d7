"""`docrail calibrate`: fit how sure readings may be on what is known to be right, and keep or take back such a fit."""

import asyncio
import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from activities.reading import DocumentReader
from commands.client import NAME_VARIABLE
from commands.database import small_pool
from commands.speaking import complain, console, say, table
from commands.stopping import INTERRUPTED, run_until_stopped
from invoices.calibration import Calibration, Observation, default_calibration, expected_error, fit, held_out
from invoices.labelled import LabelledFile, Manifest, observe
from invoices.model import READER_VERSION
from invoices.problems import UnreadableDocument
from operations.calibrations import (
    SHIPPED,
    choose_calibration,
    keep_calibration,
    list_calibrations,
    list_outcomes,
    show_calibration,
)
from operations.errors import NotFound
from operations.principal import DEFAULT_TENANT, Principal, Scope

MANIFESTS = ("MANIFEST.json", "EXPECTED.json")
"""What a labelled folder's list is called; the second is that of samples/."""
EXPECTED_MANIFEST = 'a list of the labelled files, {"files": [{"file", "expected", "family"}]}'
FEWEST_VALUES, FEWEST_FAMILIES = 50, 3
"""What a fit needs: with fewer families nothing can be said of layouts that were never seen."""


Url = Annotated[
    str, typer.Option(help="The database's URL.", envvar="DOCRAIL_DATABASE_URL", show_envvar=False, metavar="URL")
]
As = Annotated[
    str | None, typer.Option("--as", help="Who you are, for the audit.", envvar=NAME_VARIABLE, metavar="NAME")
]


def calibrate(
    labelled: Annotated[
        list[Path] | None,
        typer.Option(help="Fit on a folder whose MANIFEST.json says what is right; may be repeated.", metavar="FOLDER"),
    ] = None,
    decisions: Annotated[bool, typer.Option("--decisions", help="Fit on what people approved and corrected.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Store the fit; from now on it counts.")] = False,
    write: Annotated[Path | None, typer.Option(help="Write the fit to a file, too.", metavar="FILE")] = None,
    back: Annotated[
        str | None, typer.Option(help="Let an earlier version count again, or `shipped`.", metavar="VERSION")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose calibration.", metavar="TENANT")] = DEFAULT_TENANT,
    name: As = None,
    database: Url = "postgresql://docrail@127.0.0.1:5432/docrail",
) -> None:
    """Fit how sure readings may be.

    Of values with confidence 0.9, nine in ten shall be right. With --labelled, --decisions or both: show the expected
    calibration error of what counts now and of the new fit, each family of look-alikes judged by a fit on the other
    families. Nothing changes without --keep. With --back: let an earlier version count again. With nothing: list the
    versions.

    Exit codes: 0 done, 1 there is too little to fit on or no such version, 2 wrong usage.

    Example: docrail calibrate --labelled samples --decisions --keep
    """
    who = Principal(tenant, name or _own_name(), frozenset(Scope))
    if back is not None and (labelled or decisions or keep or write):
        raise typer.BadParameter("goes without the options of a fit", param_hint="--back")
    if not (labelled or decisions):
        if keep or write:
            raise typer.BadParameter("needs --labelled or --decisions", param_hint="--keep" if keep else "--write")
        asyncio.run(_list(database, who) if back is None else _back(database, who, _version(back)))
        return
    fitted = run_until_stopped(lambda: _fit(database, who, labelled or [], decisions=decisions, keep=keep))
    if fitted is None:
        raise typer.Exit(INTERRUPTED)
    if write:
        write.write_text(fitted.model_dump_json() + "\n")
        say(f"wrote {write}")


def _own_name() -> str:
    """Return the name that the operating system knows whoever calls by."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may know none
        return "docrail"


async def _fit(database: str, who: Principal, labelled: Sequence[Path], *, decisions: bool, keep: bool) -> Calibration:
    """Fit, show the errors before and after, and keep the fit if wanted. The database is asked only if it is needed."""
    observations = [seen for folder in labelled for seen in await _observe(folder)]
    now = default_calibration()
    sources = [f"labelled files of {folder.name}" for folder in labelled]
    if decisions or keep:
        async with small_pool(database) as pool:
            now = await show_calibration(pool, who) or now
            if decisions:
                observations += await list_outcomes(pool, who)
                sources.append("people's decisions")
            fitted = _checked_fit(observations, now)
            if keep:
                version = await keep_calibration(pool, who, fitted, " and ".join(sources))
                say(f"kept as version {version}; it counts from now on")
    else:
        fitted = _checked_fit(observations, now)
    return fitted


def _checked_fit(observations: Sequence[Observation], now: Calibration) -> Calibration:
    """Fit and say what it is worth."""
    families, wrong = {seen.family for seen in observations}, sum(not seen.right for seen in observations)
    if len(observations) < FEWEST_VALUES or len(families) < FEWEST_FAMILIES:
        raise SystemExit(
            f"found {len(observations)} values of {len(families)} families of documents; a fit needs at least "
            f"{FEWEST_VALUES} of {FEWEST_FAMILIES}: label or decide more documents, of more vendors"
        )
    say(f"{len(observations)} values of {len(families)} families, {wrong} of them wrong")
    before = [(now.apply(seen.field, seen.raw), seen.right) for seen in observations]
    raw = [(seen.raw, seen.right) for seen in observations]
    say("expected calibration error:")
    say(f"  {expected_error(raw):.3f}  as computed, without a calibration")
    say(f"  {expected_error(before):.3f}  by what counts now ({now.name})")
    say(f"  {expected_error(held_out(observations)):.3f}  by this fit, each family judged by the others")
    return fit(observations, f"{SHIPPED}-{READER_VERSION}")


async def _observe(folder: Path) -> list[Observation]:
    """Read the labelled files, each in a limited process, and compare."""
    files = [file for file in _manifest(folder).files if file.truths()]
    reader = DocumentReader()
    try:
        read = await asyncio.gather(*(_observe_one(reader, folder, file) for file in files))
    finally:
        await reader.close()
    return [seen for observations in read for seen in observations]


async def _observe_one(reader: DocumentReader, folder: Path, file: LabelledFile) -> list[Observation]:
    path = folder / file.file
    if not path.is_file():
        raise SystemExit(f"there is no file {path}, which the folder's list names")
    try:
        return list(observe(await reader.read(path), file))
    except UnreadableDocument as error:
        complain(f"{file.file}: {error.message}")
        return []


def _manifest(folder: Path) -> Manifest:
    path = next((folder / name for name in MANIFESTS if (folder / name).is_file()), folder / MANIFESTS[0])
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise SystemExit(f"there is no {path}: expected {EXPECTED_MANIFEST}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SystemExit(f"{path}: {place or 'the file'}: {first['msg']}; expected {EXPECTED_MANIFEST}") from None


async def _list(database: str, who: Principal) -> None:
    async with small_pool(database) as pool:
        stored = await list_calibrations(pool, who)
    rows = table()
    for heading in ("version", "fitted on", "values", "made", "counts"):
        rows.add_column(heading)
    shipped = default_calibration()
    anyone = any(each.active for each in stored)
    rows.add_row(SHIPPED, "labelled files", str(shipped.observations), "", "" if anyone else "yes")
    for each in stored:
        made = f"{each.created_at:%Y-%m-%d %H:%M}"
        rows.add_row(str(each.version), each.fitted_on, str(each.observations), made, "yes" if each.active else "")
    console().print(rows)


async def _back(database: str, who: Principal, version: int | None) -> None:
    async with small_pool(database) as pool:
        try:
            await choose_calibration(pool, who, version)
        except NotFound as error:
            raise SystemExit(f"{error}: `docrail calibrate` lists the versions") from None
    say(f"{'the shipped calibration' if version is None else f'version {version}'} counts from now on")


def _version(back: str) -> int | None:
    if back == SHIPPED:
        return None
    if not back.isdecimal():
        raise typer.BadParameter(f"found {back!r}, expected a version's number or `{SHIPPED}`", param_hint="--back")
    return int(back)
