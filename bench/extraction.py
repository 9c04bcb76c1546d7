"""Scores the readers on labelled documents and writes docs/reference/extraction.md.

The development set is ../shared/data/invoices where there is one, else samples/. Each kind of document is read in a
process of its own, so that its peak memory is its own; its first document is read twice, and counted once.
"""

import datetime as dt
import json
import multiprocessing
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from bench.extraction_scores import NOT_ALL, Calibrated, Score, Truth, approved, calibrated, scores
from invoices.confidence import assess
from invoices.model import InvoiceData
from invoices.problems import UnreadableDocument
from invoices.readers.pdf_words import read_pages
from invoices.readers.read import read_document
from invoices.readers.text import read_text
from invoices.readers.warming import warm_up

ROOT = Path(__file__).parents[1]
DEVELOPMENT, SAMPLES = ROOT.parent / "shared" / "data" / "invoices", ROOT / "samples"
PAGE = ROOT / "docs" / "reference" / "extraction.md"
TODAY = dt.date(2026, 11, 1)
"""Fixed, so that the same readers give the same page on any day."""
INTRODUCTION = """# Extraction, measured

`make bench-extraction` reads the labelled documents of {place} with the readers alone, no model and no network, and
writes this page. A field is *right*, *wrong* or *missing*; only fields that are printed on the document count.
A wrong value costs more than a missing one: nobody is asked about it. *Whole* are documents with every field right.

The rules of the readers are written, not learned, and none names a vendor, so leaving a family of look-alikes out
changes none of their answers. What is learned is the calibration of the confidences: its error is given as shipped, and
*left out*: each family judged by curves fitted on the other families only.

Measured in one process, {machine}.
"""


PRINTED = """## E-invoices by their print alone

What the text reader makes of the PDFs that carry an e-invoice, with the e-invoice left out.

"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the documents of one kind took. `peak_mb` is the process's, with its libraries."""

    pages: int
    milliseconds: float
    peak_mb: float


EINVOICE_PDF = "pdf_einvoice"
Readings = list[tuple[Truth, InvoiceData | None]]


def main() -> None:
    """Measure, print the page, write it."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEVELOPMENT if DEVELOPMENT.is_dir() else SAMPLES
    truths = list(load_truths(folder))
    readings: Readings = []
    costs: dict[str, Cost] = {}
    for kind in sorted({truth.kind for truth in truths}):
        own, costs[kind] = _in_own_process(folder, [truth for truth in truths if truth.kind == kind])
        readings += own
    printed: Readings = [(truth, _read_printed(folder / truth.file)) for truth in truths if truth.kind == EINVOICE_PDF]
    text = page(folder.name, readings, costs, printed)
    print(text)
    if len(sys.argv) == 1:
        PAGE.write_text(text, "utf-8")


def load_truths(folder: Path) -> Iterator[Truth]:
    """Yield what is known of the documents in a folder, by its MANIFEST.json or the samples' EXPECTED.json."""
    manifest = folder / "MANIFEST.json"
    listed = json.loads((manifest if manifest.is_file() else folder / "EXPECTED.json").read_text("utf-8"))["files"]
    for entry in listed:
        if "expected" not in entry:
            continue
        expected = entry["expected"]
        yield Truth(
            entry["file"],
            entry.get("kind") or entry["reader"],
            entry.get("family") or entry["file"],
            expected,
            entry.get("visible") or list(expected),
            entry.get("document_type") == "credit_note",
        )


def _in_own_process(folder: Path, truths: Sequence[Truth]) -> tuple[Readings, Cost]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answers, cost = pool.apply(_read_all, ([folder / truth.file for truth in truths],))
    invoices = [InvoiceData.model_validate_json(answer) if answer else None for answer in answers]
    return list(zip(truths, invoices, strict=True)), cost


def _read_all(paths: Sequence[Path]) -> tuple[list[str | None], Cost]:
    """Return each reading as JSON, for its model cannot be pickled."""
    warm_up()
    _read(paths[0])
    started = process_time()
    readings = [_read(path) for path in paths]
    spent = process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answers = [invoice.model_dump_json() if invoice else None for invoice in readings]
    return answers, Cost(sum(map(_pages, readings)), 1000 * spent, peak)


def _read(path: Path) -> InvoiceData | None:
    try:
        return read_document(path.read_bytes(), today=TODAY)
    except UnreadableDocument:
        return None


def _pages(invoice: InvoiceData | None) -> int:
    return max(1, invoice.page_count) if invoice else 1


def _read_printed(path: Path) -> InvoiceData:
    """Return what the page of an e-invoice says without the e-invoice."""
    return assess(read_text(read_pages(path.read_bytes())), TODAY)


def page(place: str, readings: Readings, costs: Mapping[str, Cost], printed: Readings) -> str:
    """Return the page: all, then by kind with its costs, by field, by family; then e-invoices by their print alone."""
    groups = scores(readings)
    parts = [INTRODUCTION.format(place=f"`{place}`", machine=f"Python {sys.version.split()[0]}")]
    parts.append(_summary(groups["all", ""], calibrated(readings)))
    parts.append(
        "Passing without a person, by the reading alone: {} documents, {} fully right.\n".format(*approved(readings))
    )
    parts += [f"## By {grouping}\n\n{_table(grouping, groups, costs)}" for grouping in NOT_ALL]
    if printed:
        parts.append(PRINTED + _summary(scores(printed)["all", ""], calibrated(printed)))
    return "\n".join(parts)


def _summary(every: Score, errors: Calibrated) -> str:
    whole, count = every.documents["whole"], every.documents.total()
    return (
        f"All {every.fields.total()} fields of {count} documents: right {every.share('right'):.3f}, "
        f"wrong {every.share('wrong'):.3f}, missing {every.share('missing'):.3f}; {whole} documents whole.\n\n"
        f"Expected calibration error over {errors.values} values: {errors.shipped:.3f} as shipped, "
        f"{errors.left_out:.3f} left out.\n"
    )


def _table(grouping: str, groups: Mapping[tuple[str, str], Score], costs: Mapping[str, Cost]) -> str:
    heads = [grouping, "fields", "right", "wrong", "missing"]
    heads += ["whole"] * (grouping != "field") + ["ms CPU a page", "peak MB"] * (grouping == "kind")
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for (group, name), score in sorted(groups.items()):
        if group == grouping:
            rows.append(_row(name, score, costs.get(name) if grouping == "kind" else None))
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def _row(name: str, score: Score, cost: Cost | None) -> list[Any]:
    row: list[Any] = [name, score.fields.total(), *(f"{score.share(o):.3f}" for o in ("right", "wrong", "missing"))]
    if score.documents:
        row.append(f"{score.documents['whole']}/{score.documents.total()}")
    if cost:
        row += [f"{cost.milliseconds / cost.pages:.1f}", f"{cost.peak_mb:.0f}"]
    return row


if __name__ == "__main__":
    main()
