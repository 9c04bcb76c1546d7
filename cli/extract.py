"""`docrail extract`: read documents without a server, and print their fields."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any

import typer

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.cli.files import files_in
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import print_parts
from docrail.cli.stop import INTERRUPTED, run_until_stopped
from docrail.cli.terminal import complain, print_json, say_unfolded, visible_json
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.explanation import Term, explain, explain_overall
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from docrail.invoices.model import FIELD_NAMES, InvoiceData
from docrail.invoices.problems import UnreadableDocument

SUFFIXES = frozenset({".pdf", ".xml", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"})
"""Files that are taken from a folder. A file that is named itself is read whatever its suffix."""
MANIFEST = "MANIFEST.json"
NOT_PRINTED = ("buyer_name",)
"""Read, but not among the fields that extractions are compared by."""
SMALLEST_SHOWN = 0.0005
"""Smaller terms of a document's confidence would be shown as -0.000, and are left out."""
SHOWN = ("vendor_name", "invoice_number", "date", "total", "currency")
"""Columns of the table for people."""


class Shape(Enum):
    """How readings are printed."""

    TABLE = auto()
    EXPLAINED = auto()
    JSON = auto()
    JSONL = auto()


@dataclass(frozen=True, slots=True)
class Reading:
    """The fields of one file, or why it could not be read."""

    name: str
    invoice: InvoiceData | None
    failure: dict[str, Json] | None = None


def extract(
    paths: Annotated[list[Path], typer.Argument(help="Documents, and folders of documents.", metavar="PATH")],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with an object for each file.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object per line, as files are read.")] = False,
    explained: Annotated[bool, typer.Option("--explain", help="Show what each confidence is made of.")] = False,
    at_once: Annotated[int, typer.Option(help="Documents read at once.", min=1, max=64, metavar="N")] = os.cpu_count()
    or 1,
) -> None:
    """Read documents and print their fields; needs no server.

    Nothing is stored. Each file is opened in a limited process of its own. Folders are searched for PDFs, XML files
    and images. A file has the name that the MANIFEST.json above it gives it, else its path in the given folder.

    An object has {"file", "fields", "confidence", "auto_approved", "problems"}, amounts as strings, dates as
    YYYY-MM-DD. auto_approved is true if the reading would need no person, were the vendor known: an e-invoice has
    every required field, every field is sure, and no rule is broken but for the age of the document and the checksum
    of a VAT id.

    Exit codes: 0 all read, or there was none; 1 a file is missing or cannot be read; 2 wrong usage; 130 stopped by
    Ctrl-C.

    Example: docrail extract inbox/ invoice.pdf --jsonl
    """
    files = list(_files(paths))
    if explained and (jsonl or as_json):
        raise typer.BadParameter("goes without --json and --jsonl", param_hint="--explain")
    shape = Shape.JSONL if jsonl else Shape.JSON if as_json else Shape.EXPLAINED if explained else Shape.TABLE
    readings: list[Reading] = []
    finished = run_until_stopped(lambda: _read_all(files, at_once, shape, readings))
    if finished is None:
        complain(f"stopped after {len(readings)} of {len(files)} documents")
        raise typer.Exit(INTERRUPTED)
    if not files:
        complain(f"no document in {', '.join(map(str, paths))}: looked for {', '.join(sorted(SUFFIXES))}")
    _print(readings, shape)
    if any(reading.invoice is None for reading in readings):
        raise typer.Exit(1)


def record(reading: Reading) -> dict[str, Json]:
    """Return the JSON object of one file."""
    invoice = reading.invoice
    if invoice is None:
        return {"file": reading.name, "fields": {}, "confidence": {}, "auto_approved": False} | {
            "problems": [reading.failure]
        }
    fields = {name: getattr(invoice, name) for name in FIELD_NAMES if name not in NOT_PRINTED}
    values: dict[str, Json] = {name: _plain(field.value) for name, field in fields.items()}
    return {
        "file": reading.name,
        "fields": values | {"line_count": len(invoice.line_items) or None},
        "confidence": {name: field.confidence for name, field in fields.items() if field.value is not None},
        "auto_approved": passes_alone(invoice),
        "problems": [problem.model_dump(mode="json") for problem in invoice.problems],
    }


def passes_alone(invoice: InvoiceData) -> bool:
    """Return whether the reading alone would need no person: it is of an e-invoice, and nothing contradicts it."""
    return decide(invoice, WITHOUT_HISTORY).passes


def _plain(value: Any) -> Json:
    return None if value is None else str(value)


def _files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file with its name, those in folders by name."""
    for path in paths:
        if not path.is_dir():
            yield _name(path, None), path
            continue
        yield from ((_name(file, path), file) for file in files_in(path, SUFFIXES))


def _name(file: Path, folder: Path | None) -> str:
    listed = next((above for above in file.absolute().parents if (above / MANIFEST).is_file()), None)
    if listed is not None:
        return file.absolute().relative_to(listed).as_posix()
    return file.relative_to(folder).as_posix() if folder else str(file)


async def _read_all(files: Sequence[tuple[str, Path]], at_once: int, shape: Shape, readings: list[Reading]) -> bool:
    """Append the readings in the order of the files, and print each as a line if that is the shape."""
    async for reading in _read(files, at_once):
        readings.append(reading)
        if shape is Shape.JSONL:
            print(visible_json(json.dumps(record(reading), ensure_ascii=False)), flush=True)
        _progress(len(readings), len(files))
    return True


def _print(readings: Sequence[Reading], shape: Shape) -> None:
    if shape is Shape.JSON:
        print_json([record(reading) for reading in readings])
    elif readings and shape is not Shape.JSONL:
        _print_table(readings)
    for reading in readings if shape is Shape.EXPLAINED else ():
        if reading.invoice is not None:
            say_unfolded("\n".join((reading.name, *explanation_of(reading.invoice))))


async def _read(files: Sequence[tuple[str, Path]], at_once: int) -> AsyncIterator[Reading]:
    reader = DocumentReader(workers=at_once)
    tasks = [asyncio.create_task(_read_one(reader, name, path)) for name, path in files]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await reader.close()


async def _read_one(reader: DocumentReader, name: str, path: Path) -> Reading:
    try:
        return Reading(name, await reader.read(path))
    except UnreadableDocument as error:
        return Reading(name, None, _failure(error.code.value, error.message))
    except OSError as error:
        what = error.strerror or str(error)
        return Reading(name, None, _failure("cannot_open", f"The file cannot be opened: {what}. Check its path."))


def _failure(code: str, message: str) -> dict[str, Json]:
    return {"code": code, "severity": "error", "message": message, "field": None}


def _progress(done: int, count: int) -> None:
    """Count on stderr, if that is a terminal."""
    if sys.stderr.isatty() and count > 1:
        end = "\n" if done == count else ""
        print(f"\r{done} of {count} read", end=end, file=sys.stderr, flush=True)


def _print_table(readings: Sequence[Reading]) -> None:
    kinds = {"file": TEXT, "vendor": TEXT, "number": ID, "date": ID, "total": NUMBER, "currency": ID}
    headings = {**kinds, "lines": NUMBER, "sure": NUMBER, "problems": TEXT}
    print_parts([Listing(headings, map(_row, readings))])
    for reading in readings:
        if reading.failure is not None:
            complain(f"{reading.name}: {reading.failure['message']}")


def _row(reading: Reading) -> list[str]:
    invoice = reading.invoice
    if invoice is None:
        assert reading.failure is not None
        return [reading.name, *("" for _ in SHOWN), "", "", str(reading.failure["code"])]
    values = [getattr(invoice, name).value for name in SHOWN]
    codes = ", ".join(dict.fromkeys(problem.code for problem in invoice.problems))
    shown = ["" if value is None else str(value) for value in values]
    return [reading.name, *shown, str(len(invoice.line_items) or ""), f"{invoice.confidence:.2f}", codes]


def explanation_of(invoice: InvoiceData) -> Iterator[str]:
    """Yield the document's line, then one for each field that was found."""
    shares = [part for part in explain_overall(invoice) if abs(part.weight) >= SMALLEST_SHOWN]
    yield f"  {invoice.confidence:.3f}  document: {_terms(shares, 3) or 'nothing lowers it'}"
    for name in FIELD_NAMES:
        field = getattr(invoice, name)
        if field.value is not None:
            yield f"  {field.confidence:.3f}  {name.replace('_', ' ')}: {_terms(explain(field, name), 2)}"


def _terms(parts: Sequence[Term], digits: int) -> str:
    return ", ".join(f"{part.what.replace('_', ' ')} {part.weight:+.{digits}f}" for part in parts)
