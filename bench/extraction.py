"""Score the readers on labelled documents and write docs/reference/extraction.md.

    python -m bench.extraction [FOLDER]

The default FOLDER is the development set, ../shared/data/invoices; if it does not exist, the invented invoices of the
tests, which are in the repository. Those and the unseen documents, for which hardly any rule was changed, are scored as
well, and without FOLDER also scans of both, which take minutes. Only the development set's page is written; others are
printed. Each kind of document is read in a separate process, to measure its peak memory; its first document is read
twice and counted once.
"""

import datetime as dt
import json
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any

from bench.extraction_scores import CONFIDENT, NOT_ALL, Fitted, Judgement, Score, Truth, fitted, scores
from bench.scans import make_scans
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.read import read_document, read_text
from docrail.invoices.readers.warm_up import warm_up

ROOT = Path(__file__).parents[1]
DEVELOPMENT = ROOT.parent / "shared" / "data" / "invoices"
INVENTED_FOLDER = ROOT / "tests" / "invoices" / "invented"
PICTURED_FOLDER = ROOT / "tests" / "invoices" / "pictured"
UNSEEN_FOLDER = ROOT / "tests" / "invoices" / "unseen"
PAGE = ROOT / "docs" / "reference" / "extraction.md"
TODAY = dt.date(2026, 11, 1)
"""Fixed, so that the same readers give the same page on any day."""
INTRODUCTION = """# Extraction, measured

`make bench-extraction` reads the labelled documents of {place} with the readers alone, no model and no network, and
writes this page. A field is *right*, *wrong* or *missing*; only fields that are printed on the document count.
A wrong value costs more than a missing one, because no one is asked about it. *Whole* documents have every field right.

The rules of the readers are code, written with these documents in view; no rule names a vendor. So leaving a family
of similar documents out changes no result here, and a score on known documents says less than one on new ones:
`tests/invoices/unseen/README.md` has the scores of documents that hardly any rule was written for, and
`tests/invoices/invented/README.md` the scores of others at first sight. Only the calibration of the confidences is
*fitted* to documents; vendor memory is not used here. So each family is scored twice: *as shipped*, and
*left out*: with curves fitted on the other families only.

Measured in one process, {machine}.
"""

FITTED = """## With the family left out of the calibration

Mean confidence, expected calibration error, the number of documents approved automatically by the reading alone, and
how many of these are fully right; each with the shipped curves, and with curves fitted without the family.

"""
UNSEEN = """## Unseen layouts

The documents of `tests/invoices/unseen`, of which few were looked at for a rule: its README names them.

"""
UNSEEN_SCANS = """## Scans of unseen layouts

The same documents, turned into images by `python -m bench.scans`: grey, rotated, blurred and noisy.

"""
INVENTED = """## Invented invoices

The documents of `tests/invoices/invented`, which are in the repository. The shipped curves were fitted without them;
the rules were written with them in view: the README there has the scores at first sight.

"""
PICTURED_RECEIPTS = """## Pictured receipts

The receipts of `tests/invoices/pictured`, as photographs and scans: the README there has the scores at first sight.

"""
PICTURED_INVOICES = """## Pictured invoices

The invoices of `tests/invoices/pictured`.

"""
SCANS = """## Scans of the invented invoices

The same documents as scans.

"""
PRINTED = """## E-invoices by their printed page

The results of the text reader on the PDFs with an e-invoice, which it does not see.

"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of the documents of one kind: CPU time per page for each document, and peak memory including libraries."""

    milliseconds: Sequence[float]
    peak_mb: float


EINVOICE_PDF = "pdf_einvoice"
PROGRESS_EVERY = 25
"""Number of documents between progress messages."""
Readings = Sequence[tuple[Truth, InvoiceData | None]]


def main() -> None:
    """Measure, print the page and write it."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEVELOPMENT if DEVELOPMENT.is_dir() else INVENTED_FOLDER
    truths = list(load_truths(folder))
    readings: list[tuple[Truth, InvoiceData | None]] = []
    costs: dict[str, Cost] = {}
    for kind in sorted({truth.kind for truth in truths}):
        own, costs[kind] = _in_own_process(folder, [truth for truth in truths if truth.kind == kind])
        readings += own
    printed: Readings = [(truth, _read_printed(folder / truth.file)) for truth in truths if truth.kind == EINVOICE_PDF]
    others = {UNSEEN: _in_all_processes(UNSEEN_FOLDER)}
    others[UNSEEN_SCANS] = [] if sys.argv[1:] else _read_scans(UNSEEN_FOLDER)
    others[PRINTED] = printed
    others[INVENTED] = [] if folder == INVENTED_FOLDER else _in_all_processes(INVENTED_FOLDER)
    others[SCANS] = [] if sys.argv[1:] else _read_scans(INVENTED_FOLDER)
    pictured = [] if sys.argv[1:] else _in_all_processes(PICTURED_FOLDER)
    others[PICTURED_RECEIPTS] = [each for each in pictured if is_receipt(each[0])]
    others[PICTURED_INVOICES] = [each for each in pictured if not is_receipt(each[0])]
    text = page(folder.name, readings, costs, others)
    print(text)
    if folder == DEVELOPMENT:
        PAGE.write_text(text, "utf-8")


def is_receipt(truth: Truth) -> bool:
    """Return whether a pictured document is in the folder of receipts."""
    return Path(truth.file).parent.name == "receipts"


def load_truths(folder: Path) -> Iterator[Truth]:
    """Yield the truths of a folder's documents, from its MANIFEST.json or the samples' EXPECTED.json."""
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


def _read_scans(folder: Path) -> Readings:
    """Return the readings of scans of a folder's documents; the scans are made for this and deleted."""
    with tempfile.TemporaryDirectory() as into:
        made = make_scans(folder, Path(into))
        print(f"made {made} scans of {folder.name}", file=sys.stderr)
        return _in_all_processes(Path(into))


def _in_all_processes(folder: Path) -> Readings:
    """Return the readings of a folder's documents, read by as many processes as there are processors."""
    truths = list(load_truths(folder))
    answers: list[str | None] = []
    with multiprocessing.get_context("spawn").Pool(initializer=warm_up) as pool:
        for answer in pool.imap(_read_as_json, [folder / truth.file for truth in truths]):
            answers.append(answer)
            if len(answers) % PROGRESS_EVERY == 0:
                print(f"read {len(answers)} of {len(truths)}", file=sys.stderr)
    return _readings(truths, answers)


def _in_own_process(folder: Path, truths: Sequence[Truth]) -> tuple[Readings, Cost]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answers, cost = pool.apply(_read_all, ([folder / truth.file for truth in truths],))
    return _readings(truths, answers), cost


def _readings(truths: Sequence[Truth], answers: Sequence[str | None]) -> Readings:
    invoices = [InvoiceData.model_validate_json(answer) if answer else None for answer in answers]
    return list(zip(truths, invoices, strict=True))


def _read_all(paths: Sequence[Path]) -> tuple[list[str | None], Cost]:
    warm_up()
    read_file(paths[0])
    answers, milliseconds = [], []
    for path in paths:
        started = process_time()
        invoice = read_file(path)
        milliseconds.append(1000 * (process_time() - started) / _pages(invoice))
        answers.append(_as_json(invoice))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return answers, Cost(milliseconds, peak)


def _read_as_json(path: Path) -> str | None:
    return _as_json(read_file(path))


def _as_json(invoice: InvoiceData | None) -> str | None:
    """Return a reading as JSON to send it to another process, because its model cannot be pickled."""
    return invoice.model_dump_json() if invoice else None


def read_file(path: Path) -> InvoiceData | None:
    """Return the reading of a file; None if the file is refused."""
    try:
        return read_document(path.read_bytes(), today=TODAY)
    except UnreadableDocument:
        return None


def _pages(invoice: InvoiceData | None) -> int:
    return max(1, invoice.page_count) if invoice else 1


def _read_printed(path: Path) -> InvoiceData:
    """Return the reading of an e-invoice PDF's page without the e-invoice."""
    return assess(read_text(read_pages(PdfPages(path.read_bytes()))), TODAY)


def page(place: str, readings: Readings, costs: Mapping[str, Cost], others: Mapping[str, Readings]) -> str:
    """Return the page: scores in total, by kind with costs, by field, by family, and without the fitted calibration.

    `others` adds a summary under each of its texts; entries without readings are left out.
    """
    groups, judged = scores(readings), fitted(readings)
    parts = [INTRODUCTION.format(place=f"`{place}`", machine=f"Python {sys.version.split()[0]}")]
    parts.append(_summary(groups, judged["all"]))
    parts += [f"## By {grouping}\n\n{_table(grouping, groups, costs)}" for grouping in NOT_ALL]
    parts.append(FITTED + _fitted_table(judged))
    parts += [text + _summary(scores(own), fitted(own)["all"]) for text, own in others.items() if own]
    return "\n".join(parts)


def _summary(groups: Mapping[tuple[str, str], Score], judged: Fitted) -> str:
    every, totals = groups["all", ""], groups.get(("field", "total"), Score()).fields
    whole, count = every.documents["whole"], every.documents.total()
    confident, misleading = every.confident()
    return (
        f"All {every.fields.total()} fields of {count} documents: right {every.share('right'):.3f}, "
        f"wrong {every.share('wrong'):.3f}, missing {every.share('missing'):.3f}; {whole} documents whole. "
        f"Of {totals.total()} totals {totals['right']} right, {totals['wrong']} wrong. "
        f"Of {confident} values with a confidence of {CONFIDENT} or more, {misleading} wrong.\n\n"
        f"Expected calibration error over {judged.values} values: {judged.shipped.error:.3f} as shipped, "
        f"{judged.left_out.error:.3f} left out.\n\nPassing without a person, by the reading alone: "
        f"{_passing(judged.shipped)}, as shipped; {_passing(judged.left_out)}, left out.\n"
    )


def _passing(judgement: Judgement) -> str:
    wrong = judgement.passing - judgement.passing_right
    return f"{judgement.passing} documents, {judgement.passing_right} fully right and {wrong} not"


def _fitted_table(judged: Mapping[str, Fitted]) -> str:
    heads = ["family", "confidence", "left out", "error", "left out", "pass / right", "left out"]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for family, both in sorted(judged.items()):
        pairs = [(f"{j.confidence:.3f}", f"{j.error:.3f}", f"{j.passing} / {j.passing_right}") for j in both.judgements]
        rows.append([family, *(text for pair in zip(*pairs, strict=True) for text in pair)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _table(grouping: str, groups: Mapping[tuple[str, str], Score], costs: Mapping[str, Cost]) -> str:
    heads = [grouping, "fields", "right", "wrong", "missing"]
    heads += ["whole"] * (grouping != "field")
    heads += ["ms CPU a page: median", "mean", "max", "peak MB"] * (grouping == "kind")
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
        times = (median(cost.milliseconds), mean(cost.milliseconds), max(cost.milliseconds))
        row += [*(f"{time:.1f}" for time in times), f"{cost.peak_mb:.0f}"]
    return row


if __name__ == "__main__":
    main()
