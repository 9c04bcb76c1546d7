"""Finds what an invoice is called and when it was written: number, issue date, due date, kind of document."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from invoices.model import DocumentType, Evidence, FieldValue, Source
from invoices.readers.dates import FoundDate, find_dates
from invoices.readers.folding import squeeze
from invoices.readers.found import found
from invoices.readers.geometry import Cell, Layout
from invoices.readers.labels import Finder, Labelled
from invoices.readers.vocabulary import (
    DATE_AFTER_NUMBER,
    DUE_DATE,
    INVOICE_NUMBER,
    INVOICE_TITLE,
    ISSUE_DATE,
    PLAIN_DATE,
)

NUMBER = re.compile(r"(?:[A-Z]{1,6}[ ])?[A-Za-z0-9][\w/.\-]*(?=$|[\s;)]|,\s|,$)")
DECIMAL = re.compile(r"\d+[.,]\d\d$")
CREDIT_WORDS = re.compile(
    r"\b(credit ?note|credit ?memo|gutschrift|avoir|creditnota|nota de credito|nota di credito)\b"
)
HEAD = 0.45
"""Share of the first page in which an unlabelled date can be the issue date."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: str
    cell: Cell
    score: float


@dataclass(frozen=True, slots=True)
class _DateCandidate:
    found: FoundDate
    cell: Cell
    score: float
    source: Source


def document_type(layout: Layout) -> DocumentType:
    """Return what the title says. "Gutschrift" in a sentence is no title, so only short cells count."""
    titles = (cell.folded for cell in layout.cells[:40] if len(cell.words) <= 4)  # noqa: PLR2004  # words of a title
    return DocumentType.CREDIT_NOTE if any(map(CREDIT_WORDS.search, titles)) else DocumentType.INVOICE


def find_invoice_number(finder: Finder) -> FieldValue[str]:
    """Return the number at the surest label; the one repeated most often if labels are equally sure."""
    candidates = list(_number_candidates(finder))
    if not candidates:
        return FieldValue()
    best = max(candidates, key=lambda candidate: candidate.score)
    rivals = {squeeze(c.value) for c in candidates if c.score >= best.score} - {squeeze(best.value)}
    evidence = (Evidence.SEVERAL_CANDIDATES,) if rivals else ()
    return found(finder.layout, best.value, best.cell, Source.TEXT_LABEL, evidence)


def _number_candidates(finder: Finder) -> Iterator[_Candidate]:
    for labelled in finder.at(INVOICE_NUMBER):
        yield from _number_at(labelled, 3.0)
    for labelled in finder.at(INVOICE_TITLE):
        if len(labelled.label_cell.words) <= 6:  # noqa: PLR2004  # a title with its number, not a sentence
            yield from _number_at(labelled, 1.5)


def _number_at(labelled: Labelled, strength: float) -> Iterator[_Candidate]:
    match = NUMBER.match(labelled.text)
    if not match:
        return
    value = match.group().rstrip(".-/")
    if not _is_number(value) or any(date.start < match.end() for date in find_dates(labelled.text)):
        return
    digits = sum(character.isdigit() for character in value)
    score = strength - 0.4 * labelled.place + 0.3 * labelled.leads + 0.05 * min(digits, 8)
    yield _Candidate(value, labelled.cell, score)


def _is_number(value: str) -> bool:
    """A document's number has a digit, is no amount and no single word of a sentence."""
    return any(c.isdigit() for c in value) and not DECIMAL.match(value) and len(value) >= 2  # noqa: PLR2004


def find_issue_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the surest label, the date after the invoice's number, or a lone date in the head."""
    candidates = [
        *_dates_at(finder, ISSUE_DATE, 3.0, month_first=month_first),
        *_dates_after_number(finder, month_first=month_first),
        *_plain_dates(finder, month_first=month_first),
    ]
    return _best_date(finder.layout, candidates)


def find_due_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the surest label for when the money is due."""
    return _best_date(finder.layout, list(_dates_at(finder, DUE_DATE, 3.0, month_first=month_first)))


def _best_date(layout: Layout, candidates: list[_DateCandidate]) -> FieldValue[dt.date]:
    if not candidates:
        return FieldValue()
    best = max(candidates, key=lambda candidate: candidate.score)
    evidence = (Evidence.AMBIGUOUS_DATE,) if best.found.ambiguous else ()
    return found(layout, best.found.value, best.cell, best.source, evidence)


def _dates_at(
    finder: Finder, label: re.Pattern[str], strength: float, *, month_first: bool
) -> Iterator[_DateCandidate]:
    for labelled in finder.at(label):
        date = next(find_dates(labelled.text, month_first=month_first), None)
        if date is None or date.start > 12:  # noqa: PLR2004  # "(dd/mm/yyyy)", "on or before": not half a sentence
            continue
        score = strength - 0.4 * labelled.place + 0.3 * labelled.leads - 0.02 * date.start
        yield _DateCandidate(date, labelled.cell, score, Source.TEXT_LABEL)


def _dates_after_number(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the dates of "Rechnung Nr. 471102 vom 05.06.2018"."""
    for cell in finder.layout.cells:
        title = INVOICE_TITLE.search(cell.folded)
        if not title or len(cell.words) > 12:  # noqa: PLR2004  # a title line, not a sentence
            continue
        for date in find_dates(cell.text, month_first=month_first):
            if date.start >= title.end() and DATE_AFTER_NUMBER.search(cell.folded[: date.start]):
                yield _DateCandidate(date, cell, 2.8, Source.TEXT_LABEL)


def _plain_dates(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    layout = finder.layout
    for labelled in finder.at(re.compile(r"^\W*(?:date|datum|fecha|data|dato)(?![a-z])")):
        date = next(find_dates(labelled.text, month_first=month_first), None)
        if date is not None and date.start == 0:
            yield _DateCandidate(date, labelled.cell, 2.2 - 0.4 * labelled.place, Source.TEXT_LABEL)
    for cell in layout.cells:
        page = layout.pages[cell.page - 1]
        if cell.page > 1 or cell.top > HEAD * page.height:
            break
        for date in find_dates(cell.text, month_first=month_first):
            before = cell.folded[: date.start]
            if _names_another_date(before):
                continue
            score = 1.0 - 0.5 * bool(re.search(r"[a-z]", before)) - 0.5 * (cell.top / page.height)
            yield _DateCandidate(date, cell, score, Source.TEXT_PATTERN)


def _names_another_date(before: str) -> bool:
    return bool(DUE_DATE.search(before)) or (":" in before and not PLAIN_DATE.match(before))
