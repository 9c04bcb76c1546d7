"""`docrail calibration`: calibrate the confidence of readings, keep a fit, and go back to an earlier one."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.cli.database import LOCAL, Url, small_pool
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import complain, moment
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.calibration import (
    Calibration,
    Observation,
    default_calibration,
    expected_error,
    fit,
    held_out,
)
from docrail.invoices.assessment.labelled import LabelledFile, Manifest, observe
from docrail.invoices.model import READER_VERSION
from docrail.invoices.problems import UnreadableDocument
from docrail.services.access.models import DEFAULT_TENANT, Principal, Scope, local_name
from docrail.services.documents.calibrations import (
    SHIPPED,
    choose_calibration,
    keep_calibration,
    list_calibrations,
    list_outcomes,
    show_calibration,
)
from docrail.services.errors import NotFound

MANIFESTS = ("MANIFEST.json", "EXPECTED.json")
"""Names of a labelled folder's list; samples/ has the second."""
EXPECTED_MANIFEST = 'a list of the labelled files, {"files": [{"file", "expected", "family"}]}'
FEWEST_VALUES, FEWEST_FAMILIES = 50, 3
"""Least that a fit needs: with fewer families it says nothing about unseen layouts."""


@dataclass(frozen=True, slots=True)
class FitSummary:
    """The size of a fit and its expected calibration errors: raw, by what counts now, and held out by family."""

    values: int
    families: int
    wrong: int
    counts_now: str
    error_computed: float
    error_now: float
    error_fitted: float
    kept_as: int | None = None


As = Annotated[str | None, typer.Option("--as", help="Your name, for the audit.", metavar="NAME")]
Tenant = Annotated[str, typer.Option(help="The calibration of this tenant.", metavar="TENANT")]


def list_versions(tenant: Tenant = DEFAULT_TENANT, database: Url = LOCAL) -> Printout:
    """List the calibrations, and which one is in use.

    Example: docrail calibration list
    """
    return asyncio.run(_list(database, _principal(tenant, None)))


def fit_anew(
    labelled: Annotated[
        list[Path] | None,
        typer.Option(
            help="Fit on a folder whose MANIFEST.json has the right values; may be repeated.", metavar="FOLDER"
        ),
    ] = None,
    decisions: Annotated[bool, typer.Option("--decisions", help="Fit on what people approved and corrected.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Store the fit and use it from now on.")] = False,
    write: Annotated[Path | None, typer.Option(help="Write the fit to a file, too.", metavar="FILE")] = None,
    tenant: Tenant = DEFAULT_TENANT,
    name: As = None,
    database: Url = LOCAL,
) -> Printout:
    """Fit a calibration on what is known to be right.

    Of values with confidence 0.9, nine in ten should be right. Shows the expected calibration error of the calibration
    that counts now and of the new fit, each family of look-alikes judged by a fit on the other families. Nothing
    changes without --keep.

    Example: docrail calibration fit --labelled samples --decisions --keep
    """
    if not (labelled or decisions):
        raise typer.BadParameter("expected one of them, or both", param_hint="--labelled or --decisions")
    who = _principal(tenant, name)
    calibration, summary = run_or_exit(lambda: _fit(database, who, labelled or [], decisions=decisions, keep=keep))
    if write:
        write.write_text(calibration.model_dump_json() + "\n")
    return Printout(asdict(summary), [*_lines(summary), *([f"wrote {write}"] if write else [])])


def choose(
    version: Annotated[str, typer.Argument(help="A version's number, or `shipped`.", metavar="VERSION")],
    tenant: Tenant = DEFAULT_TENANT,
    name: As = None,
    database: Url = LOCAL,
) -> Printout:
    """Use an earlier calibration again.

    Example: docrail calibration set shipped
    """
    chosen = _version(version)
    asyncio.run(_choose(database, _principal(tenant, name), chosen))
    name_ = "the shipped calibration" if chosen is None else f"version {chosen}"
    return Printout({"counts": version}, f"{name_} counts from now on")


def _principal(tenant: str, name: str | None) -> Principal:
    return Principal(tenant, name or local_name(), frozenset(Scope))


async def _fit(
    database: str, who: Principal, labelled: Sequence[Path], *, decisions: bool, keep: bool
) -> tuple[Calibration, FitSummary]:
    """Fit, and keep the fit if wanted. The database is connected to only if it is needed."""
    observations = [seen for folder in labelled for seen in await _observe(folder)]
    sources = [f"labelled files of {folder.name}" for folder in labelled]
    if not (decisions or keep):
        return _checked_fit(observations, default_calibration())
    async with small_pool(database, who.tenant_id) as pool:
        now = await show_calibration(pool, who) or default_calibration()
        if decisions:
            observations += await list_outcomes(pool, who)
            sources.append("people's decisions")
        fitted, summary = _checked_fit(observations, now)
        if keep:
            summary = replace(summary, kept_as=await keep_calibration(pool, who, fitted, " and ".join(sources)))
    return fitted, summary


def _checked_fit(observations: Sequence[Observation], now: Calibration) -> tuple[Calibration, FitSummary]:
    """Fit, and measure the fit. Raises: SystemExit if there is too little to fit on."""
    families = {seen.family for seen in observations}
    if len(observations) < FEWEST_VALUES or len(families) < FEWEST_FAMILIES:
        raise SystemExit(
            f"found {len(observations)} values of {len(families)} families of documents; a fit needs at least "
            f"{FEWEST_VALUES} of {FEWEST_FAMILIES}: label or decide more documents, of more vendors"
        )
    summary = FitSummary(
        values=len(observations),
        families=len(families),
        wrong=sum(not seen.right for seen in observations),
        counts_now=now.name,
        error_computed=expected_error([(seen.raw, seen.right) for seen in observations]),
        error_now=expected_error([(now.apply(seen.field, seen.raw), seen.right) for seen in observations]),
        error_fitted=expected_error(held_out(observations)),
    )
    return fit(observations, f"{SHIPPED}-{READER_VERSION}"), summary


def _lines(summary: FitSummary) -> Iterator[str]:
    yield f"{summary.values} values of {summary.families} families, {summary.wrong} of them wrong"
    yield "expected calibration error:"
    yield f"  {summary.error_computed:.3f}  as computed, without a calibration"
    yield f"  {summary.error_now:.3f}  by what counts now ({summary.counts_now})"
    yield f"  {summary.error_fitted:.3f}  by this fit, each family judged by the others"
    if summary.kept_as is not None:
        yield f"kept as version {summary.kept_as}; it counts from now on"


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


async def _list(database: str, who: Principal) -> Printout:
    async with small_pool(database, who.tenant_id) as pool:
        stored = await list_calibrations(pool, who)
    shipped = default_calibration().observations
    first = {"version": SHIPPED, "fitted_on": "labelled files", "values": shipped, "made": None}
    found: list[dict[str, Json]] = [{**first, "counts": not any(each.active for each in stored)}]
    for each in stored:
        made = each.created_at.isoformat()
        line = {"version": str(each.version), "fitted_on": each.fitted_on, "values": each.observations, "made": made}
        found.append({**line, "counts": each.active})
    rows = [
        [
            *(line["version"], line["fitted_on"], str(line["values"])),
            *(moment(line["made"], seconds=False), "yes" if line["counts"] else ""),
        ]
        for line in found
    ]
    headings = {"version": ID, "fitted on": TEXT, "values": NUMBER, "made": ID, "counts": ID}
    return Printout(found, [Listing(headings, rows)])


async def _choose(database: str, who: Principal, version: int | None) -> None:
    async with small_pool(database, who.tenant_id) as pool:
        try:
            await choose_calibration(pool, who, version)
        except NotFound as error:
            raise SystemExit(f"{error}: `docrail calibration list` lists the versions") from None


def _version(text: str) -> int | None:
    if text == SHIPPED:
        return None
    if not text.isdecimal():
        raise typer.BadParameter(f"found {text!r}, expected a version's number or `{SHIPPED}`", param_hint="VERSION")
    return int(text)
