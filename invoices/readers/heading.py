"""Finds what an invoice is called and when it was written: number, issue date, due date, kind of document."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from invoices.model import DocumentType, Evidence, FieldValue, Source
from invoices.readers.dates import FoundDate, find_dates
from invoices.readers.folding import fold, squeeze
from invoices.readers.found import found
from invoices.readers.geometry import Cell, Layout, Row
from invoices.readers.labels import Finder, Labelled, Place
from invoices.readers.numbers import find_amounts
from invoices.readers.vocabulary import (
    BARE_NUMBER,
    CREDIT_NUMBER,
    DATE_AFTER_NUMBER,
    DUE_DATE,
    INVOICE_NUMBER,
    INVOICE_TITLE,
    ISSUE_DATE,
    LINE_AMOUNT,
    LINE_DESCRIPTION,
    LINE_PRICE,
    LINE_QUANTITY,
    ORDER,
    OTHER_DOCUMENT,
    OTHER_PAPER,
    PLAIN_DATE,
    WEAK_DATE,
)

NUMBER = re.compile(r"(?:[A-Z]{1,6}[ ])?[A-Za-z0-9][\w/.\-]*(?=$|[\s;)]|,\s|,$)")
GROUPED = re.compile(r"(?:(?:[A-Z]{1,4} )?\d{1,4}(?: \d{2,4}){1,5}|\d{2,4} [A-Z]{1,3} \d{3,10})$")
"""A number in groups, which nothing follows: `VR 881 204 55`."""
SLASHED = re.compile(r"(?:[A-Z]{1,6} )?[\w.\-]*\d[\w.\-]* / (?!\d+[.,]\d\d$)[\w.\-]*\d[\w\-]*$")
"""`TR 3 / 26-077`; nothing follows."""
OTHER_NUMBER = re.compile(r"(?:ABN|ACN|UEN|EIN|VAT|GST|UID|SIRET|SIREN|KvK|CVR|NIF|CIF|P\.?IVA)\b")
"""It says itself that it is not the invoice's."""
RECEIPT = re.compile(r"receipt|quittung|recibo|recu|ricevuta|voucher")
"""Beside an invoice's own number, that of another paper."""
DECIMAL = re.compile(r"\d+[.,]\d\d$")
CREDIT_WORDS = re.compile(
    r"\b(credit ?note|credit ?memo|gutschrift|avoir|creditnota|nota de credito|nota di credito)\b"
)
HEAD = 0.45
"""Share of the first page in which an unlabelled date can be the issue date."""
FOOT = 0.75
"""Below this share of a page, a date without a kind is that of the printing."""
TITLE_WORDS, TITLE_LINE_WORDS, SENTENCE_WORDS = 6, 12, 8
"""Longest title; longest line that begins with one; from here on it is a sentence."""
SURE_LABEL = 3.0
"""Of labels that say number or date, and of what."""
ROWS_BELOW_TITLE = 3
WEAK_NUMBER, WEAK_DATE_LABEL = 0.5, 1.5
"""Of labels that may be another paper's: less than a title, and than a plain `Date:`."""
LONG_TITLE = 0.2
"""`Invoice for May`: what stands beside or below it is seldom its number."""
SAID_OF_ANOTHER, SAID_IN_A_SENTENCE, SAID_OF_PAYMENT = 2.5, 0.6, 0.7
"""What a label loses that names an earlier document, stands inside a sentence, or names what was paid with."""
SPACED_DATE = re.compile(r"^(\d{1,2}) (\d{1,2}) (\d{4}|\d\d)$")
"""Of forms with boxes for day, month and year; only at a label is it a date."""
WITH_TIME = re.compile(r"(?i)\W{1,3}(?:(?:\S|time|uhrzeit|heure|hora|ora)\W{1,3})?\d{1,2}[:.]\d\d(?!\d)")
"""After a date: a till printed both. A stray sign may stand between."""
TIME = re.compile(r"(?<![\d:])[0-2]?\d:[0-5]\d(?!\d)")
"""Anywhere beside a date."""
TERM = re.compile(r"\W*\d{1,3} (?:tage|days|jours|dagen|dias|giorni)(?![a-z])[^.;\d]{0,25}")
"""Before the date on which it ends, on folded text: `30 Tage, bis 28.10.2026`."""
LONE_DATE = 0.1
CALLED_DATE = re.compile(r"(?:^\W*(?:date|datum|fecha|data|dato)(?![a-z])|\d\W*\s(?:date|datum|fecha|data|dato)\s*:)")
"""At the beginning, or after another value: before it, a word would say of what the date is."""
PLACE_BEFORE_DATE = re.compile(r"[a-z]{3}\W*,\s*(?:den|le|li|il|a)?\s*$")
"""Of a letter's head: `Hamburg, den 1. Mai 2024`."""


ABOUT = re.compile(r"\bzu[mr]\b")
"""Between an invoice's title and a date: that of what is charged, `Rechnung 7 zum Gutachten vom 3. Mai 2026`."""


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
    """Return the number at the surest label; nothing where each speaks of another document."""
    candidates = [candidate for candidate in _number_candidates(finder) if candidate.score > 0]
    if not candidates:
        return FieldValue()
    best = max(candidates, key=lambda candidate: candidate.score)
    rivals = {squeeze(c.value) for c in candidates if c.score >= best.score} - {squeeze(best.value)}
    evidence = (Evidence.SEVERAL_CANDIDATES,) if rivals else ()
    return found(finder.layout, best.value, best.cell, Source.TEXT_LABEL, evidence)


def _number_candidates(finder: Finder) -> Iterator[_Candidate]:
    credit_note = document_type(finder.layout) is DocumentType.CREDIT_NOTE
    for labelled in finder.at(INVOICE_NUMBER):
        weak = OTHER_PAPER.match(labelled.label) or (CREDIT_NUMBER.match(labelled.label) and not credit_note)
        strength = SURE_LABEL - SAID_OF_PAYMENT * bool(RECEIPT.match(labelled.label))
        yield from _number_at(labelled, WEAK_NUMBER if weak else strength)
    for labelled in finder.at(INVOICE_TITLE):
        behind = labelled.leads and labelled.place is Place.SAME_CELL
        if behind or len(labelled.label_cell.words) <= TITLE_WORDS:  # a title with its number, not a sentence
            goes_on = not behind and len(labelled.label_cell.words) > len(labelled.label.split()) + 1
            yield from _number_at(labelled, LONG_TITLE if goes_on else 1.5)
    for labelled in finder.at(BARE_NUMBER):
        alone = not re.search(r"[a-z]", labelled.label_cell.folded.partition(labelled.label)[2])
        if (alone or labelled.place is Place.SAME_CELL) and _beside_title(finder.layout, labelled.label_cell):
            yield from _number_at(labelled, 2.0)


def _beside_title(layout: Layout, cell: Cell) -> bool:
    """Tell whether the document's title stands before the cell in its row, or in the rows right above."""
    before = [other for other in layout.rows[cell.row].cells if other.left < cell.left]
    above = [other for row in layout.rows[max(0, cell.row - ROWS_BELOW_TITLE) : cell.row] for other in row.cells]
    titles = (other for other in (*before, *above) if other.page == cell.page and len(other.words) <= TITLE_WORDS)
    return any(INVOICE_TITLE.search(other.folded) for other in titles)


def _number_at(labelled: Labelled, strength: float) -> Iterator[_Candidate]:
    match = GROUPED.match(labelled.text) or _slashed(labelled.text) or NUMBER.match(labelled.text)
    if not match:
        return
    value = match.group().rstrip(".-/")
    if OTHER_NUMBER.match(value):
        return
    lone = value.isdigit() and strength > SURE_LABEL - 1 and labelled.text.strip() == value  # the first invoice of all
    if not (lone or _is_number(value)) or any(date.start < match.end() for date in find_dates(labelled.text)):
        return
    digits = sum(character.isdigit() for character in value)
    score = strength - 0.4 * labelled.place + 0.3 * labelled.leads + 0.05 * min(digits, 8) - _doubt(labelled)
    yield _Candidate(value, labelled.cell, score)


def _slashed(text: str) -> re.Match[str] | None:
    """Return a number with a wide slash, unless what stands behind it is a date."""
    return None if any(find_dates(text)) else SLASHED.match(text)


def _doubt(labelled: Labelled, start: int = 0) -> float:
    """Return what a label loses by what else its cell says, up to the value, which has its `start` in the text."""
    cell = labelled.label_cell
    value = len(cell.text) - len(labelled.text) + start
    told = cell.folded[:value] if labelled.place is Place.SAME_CELL else cell.folded
    another = bool(OTHER_DOCUMENT.search(told))
    sentence = not labelled.leads and len(labelled.label_cell.words) > SENTENCE_WORDS
    return SAID_OF_ANOTHER * another + SAID_IN_A_SENTENCE * sentence


def _is_number(value: str) -> bool:
    """A document's number has a digit, is no amount and no single word of a sentence."""
    return any(c.isdigit() for c in value) and not DECIMAL.match(value) and len(value) >= 2  # noqa: PLR2004


def find_issue_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the surest label, the date after the invoice's number, or a lone date in the head."""
    candidates = [
        *_dates_at(finder, ISSUE_DATE, SURE_LABEL, month_first=month_first),
        *_dates_after_number(finder, month_first=month_first),
        *_plain_dates(finder, month_first=month_first),
    ]
    candidates += [] if candidates else _lone_date(finder.layout, month_first=month_first)
    return _best_date(finder.layout, candidates)


def find_due_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the surest label for when the money is due."""
    return _best_date(finder.layout, list(_dates_at(finder, DUE_DATE, SURE_LABEL, month_first=month_first)))


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
        text = SPACED_DATE.sub(r"\1/\2/\3", labelled.text)
        date = next(find_dates(text, month_first=month_first), None)
        if date is None or (date.start > 12 and not TERM.fullmatch(fold(text[: date.start]))):  # noqa: PLR2004
            continue  # "(dd/mm/yyyy)", "on or before" may stand before it, not half a sentence
        weak = bool(WEAK_DATE.match(labelled.label))
        if weak and _beside_an_order(finder.layout, labelled.label_cell):
            continue
        score = WEAK_DATE_LABEL if weak else strength
        score += 0.3 * labelled.leads - 0.4 * labelled.place - 0.02 * date.start
        score -= _doubt(labelled, date.start)
        yield _DateCandidate(date, labelled.cell, score, Source.TEXT_LABEL)


def _beside_an_order(layout: Layout, cell: Cell) -> bool:
    before = [other for other in layout.rows[cell.row].cells if other.left < cell.left]
    return bool(before) and bool(ORDER.search(before[-1].folded))


def _dates_after_number(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the dates of "Rechnung Nr. 471102 vom 05.06.2018", also where the line breaks before or after "vom"."""
    for cell in finder.layout.cells:
        title = INVOICE_TITLE.search(cell.folded)
        if not title or len(cell.words) > TITLE_LINE_WORDS:
            continue
        below = [under for under in finder.below(cell)[:1] if under.row == cell.row + 1]
        for other in (cell, *below):
            text = other.text if other is cell else f"{cell.text} {other.text}"
            shift = len(text) - len(other.text)
            for date in find_dates(text, month_first=month_first):
                between = fold(text)[title.end() : date.start]
                if date.start >= max(title.end(), shift) and DATE_AFTER_NUMBER.search(between):
                    another = (
                        ABOUT.search(between)
                        or ORDER.search(between)
                        or OTHER_DOCUMENT.search(fold(text)[: date.start])
                    )
                    yield _DateCandidate(date, other, 2.8 - SAID_OF_ANOTHER * bool(another), Source.TEXT_LABEL)


def _plain_dates(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    yield from _dates_called_date(finder, month_first=month_first)
    layout = finder.layout
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            height = layout.pages[cell.page - 1].height
            if cell.page > 1 or cell.top > HEAD * height:
                return
            charged = any(amount.exact for amount in find_amounts(row.cells[-1].text)) and cell is not row.cells[-1]
            for date in find_dates(cell.text, month_first=month_first):
                before = cell.folded[: date.start]
                if _names_another_date(before) or charged:
                    continue
                left = row.cells[index - 1].folded if index and not before.strip() else before
                if PLACE_BEFORE_DATE.search(left):
                    yield _DateCandidate(date, cell, 2.0, Source.TEXT_LABEL)
                score = 1.0 - 0.5 * bool(re.search(r"[a-z]", before)) - 0.5 * (cell.top / height)
                yield _DateCandidate(date, cell, score, Source.TEXT_PATTERN)


def _lone_date(layout: Layout, *, month_first: bool) -> list[_DateCandidate]:
    """Return the one date on the pages, which a till prints with the time below what was sold."""
    dates = [(date, cell) for cell in layout.cells for date in find_dates(cell.text, month_first=month_first)]
    timed = [(date, cell) for date, cell in dates if _timed(layout.rows[cell.row].text, cell.text[date.end :])]
    if not timed or len({date.value for date, _ in dates}) > 1:
        return []
    return [_DateCandidate(*timed[0], LONE_DATE, Source.TEXT_PATTERN)]


def _timed(row: str, after: str) -> bool:
    return bool(WITH_TIME.match(after) or TIME.search(row))


def _dates_called_date(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    for labelled in finder.at(CALLED_DATE):
        date = next(find_dates(labelled.text, month_first=month_first), None)
        of_a_line = labelled.place is Place.BELOW and _heads_lines(finder.layout.rows[labelled.label_cell.row])
        if date is not None and date.start == 0 and not of_a_line:
            low = labelled.cell.top > FOOT * finder.layout.pages[labelled.cell.page - 1].height
            yield _DateCandidate(date, labelled.cell, 2.2 - 0.4 * labelled.place - 1.0 * low, Source.TEXT_LABEL)


def _heads_lines(row: Row) -> bool:
    """Tell whether the row names the columns of what was done, with its day."""
    heads = " | ".join(cell.folded for cell in row.cells)
    counts = any(column.search(heads) for column in (LINE_QUANTITY, LINE_PRICE, LINE_AMOUNT))
    return counts and bool(LINE_DESCRIPTION.search(heads))


def _names_another_date(before: str) -> bool:
    return bool(DUE_DATE.search(before)) or (":" in before and not PLAIN_DATE.match(before))
