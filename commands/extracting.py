"""`docrail extract`: read documents with the readers alone, without any server, and print what they say."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from activities.reading import DocumentReader
from commands.speaking import complain, console, table, visible
from commands.stopping import INTERRUPTED, run_until_stopped
from commands.whys import why
from dag.values import Json
from invoices.model import FIELD_NAMES, InvoiceData
from invoices.problems import UnreadableDocument
from invoices.straight_through import WITHOUT_HISTORY, decide

SUFFIXES = frozenset({".pdf", ".xml", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"})
"""What is taken from a folder, which holds other things too. A file named by itself is read whatever its name."""
MANIFEST = "MANIFEST.json"
NOT_PRINTED = ("buyer_name",)
"""Read, but not among the fields that extractions are compared by."""
SHOWN = ("vendor_name", "invoice_number", "date", "total", "currency")
"""Columns of the table for people."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One file's answer: what was read, or why it could not be."""

    name: str
    invoice: InvoiceData | None
    failure: dict[str, Json] | None = None


def extract(
    paths: Annotated[list[Path], typer.Argument(help="Documents, and folders of documents.", metavar="PATH...")],
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a file.")] = False,
    explained: Annotated[bool, typer.Option("--why", help="Say what each confidence is made of.")] = False,
    at_once: Annotated[int, typer.Option(help="Documents read at once.", min=1, max=64, metavar="N")] = os.cpu_count()
    or 1,
) -> None:
    """Read documents and print their fields; needs no server.

    Nothing is stored.

    Each file is opened in a limited process of its own. Folders are walked for PDFs, XML files and images.
    A file is called what the MANIFEST.json above it calls it, else by its place in the folder that was given.

    With --jsonl: {"file", "fields", "confidence", "auto_approved", "problems"}, amounts as strings, dates as
    YYYY-MM-DD. auto_approved tells whether the reading would need no person, were the vendor known: every required
    field is told exactly by an e-invoice, every field is sure, and no rule is broken but for the age of the document
    and the checksum of a VAT id.

    Exit codes: 0 all read, or there was none; 1 a file is missing or cannot be read; 2 wrong usage; 130 stopped by
    Ctrl-C.

    Example: docrail extract inbox/ invoice.pdf --jsonl
    """
    files = list(_files(paths))
    if jsonl and explained:
        raise typer.BadParameter("goes without --jsonl", param_hint="--why")
    whole = run_until_stopped(lambda: _print(files, at_once, jsonl=jsonl, explained=explained))
    if not files:
        complain(f"no document in {', '.join(map(str, paths))}: looked for {', '.join(sorted(SUFFIXES))}")
    if whole is None:
        raise typer.Exit(INTERRUPTED)
    if not whole:
        raise typer.Exit(1)


def record(reading: Reading) -> dict[str, Json]:
    """Return what --jsonl prints for one file."""
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
    """Tell whether the reading alone would need no person: an e-invoice told it, and nothing contradicts it."""
    return decide(invoice, WITHOUT_HISTORY).passes


def _plain(value: Any) -> Json:
    return None if value is None else str(value)


def _files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file with what it is called, folders walked in the order of names."""
    for path in paths:
        if not path.is_dir():
            yield _name(path, None), path
            continue
        inside = (file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        for file in sorted(inside):
            if not any(part.startswith(".") for part in file.relative_to(path).parts):
                yield _name(file, path), file


def _name(file: Path, folder: Path | None) -> str:
    listed = next((above for above in file.absolute().parents if (above / MANIFEST).is_file()), None)
    if listed is not None:
        return file.absolute().relative_to(listed).as_posix()
    return file.relative_to(folder).as_posix() if folder else str(file)


async def _print(files: Sequence[tuple[str, Path]], at_once: int, *, jsonl: bool, explained: bool) -> bool:
    """Print every reading in the order of the files, as soon as it is there. Return whether all could be read."""
    readings: list[Reading] = []
    async for reading in _read(files, at_once):
        readings.append(reading)
        if jsonl:
            print(json.dumps(record(reading), ensure_ascii=False), flush=True)
        _progress(len(readings), len(files))
    if readings and not jsonl:
        _print_table(readings)
    for reading in readings if explained else ():
        if reading.invoice is not None:
            print(visible("\n".join((reading.name, *why(reading.invoice)))))
    return all(reading.invoice is not None for reading in readings)


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
    """Count on a terminal, on stderr, so that results can go elsewhere."""
    if sys.stderr.isatty() and count > 1:
        end = "\n" if done == count else ""
        print(f"\r{done} of {count} read", end=end, file=sys.stderr, flush=True)


def _print_table(readings: Sequence[Reading]) -> None:
    rows = table()
    for heading in ("file", *SHOWN, "lines", "sure", "problems"):
        rows.add_column(heading.replace("_", " "), overflow="fold")
    for reading in readings:
        rows.add_row(*_row(reading))
    console().print(rows)
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
