"""Finds when an invoice was written and when it is due: the dates at labels, behind its number, in its head."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header.number import (
    SAID_OF_AN_INVOICE,
    SAID_OF_ANOTHER,
    SENTENCE_WORDS,
    SURE_LABEL,
    document_type,
    doubt,
    heads_lines,
    is_charged,
    names_an_invoice,
    told,
)
from docrail.invoices.readers.layout.found import found
from docrail.invoices.readers.layout.labels import MAX_DROP, Finder, Labelled, Place
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.vocabulary import (
    DATE_AFTER_NUMBER,
    DELIVERY_DATE,
    DUE_DATE,
    INVOICE_TITLE,
    ISSUE_DATE,
    NEXT_ONES,
    ORDER,
    OTHER_DOCUMENT,
    PLAIN_DATE,
    STAY,
    WEAK_DATE,
)
from docrail.invoices.values.dates import FoundDate, find_dates
from docrail.invoices.values.folding import fold

HEAD = 0.45
"""Share of the first page in which an unlabelled date can be the issue date."""
FOOT = 0.75
"""Below this share of a page, a date without a kind is that of the printing."""
SPACED_DATE = re.compile(r"^(\d{1,2}) (\d{1,2}) (\d{4}|\d\d)$")
"""Of forms with boxes for day, month and year; only at a label is it a date."""
WITH_TIME = re.compile(r"(?i)\W{1,3}(?:(?:\S|time|uhrzeit|heure|hora|ora)\W{1,3})?\d{1,2}[:.]\d\d(?!\d)")
"""After a date: a till printed both. A stray sign may stand between."""
TIME = re.compile(r"(?<![\d:])[0-2]?\d:[0-5]\d(?!\d)")
"""Anywhere beside a date."""
TERM = re.compile(
    r"\W*\d{1,3} (?:tagen?|days|jours|dagen|dias|giorni|gg)(?![a-z])"
    r"(?:(?:i\.e|d\. ?[hf]|vto|scad)\.|(?!\b(?:nach|ab|after|from|na|vanaf|desde|depuis|dalla)\b)[^.;\d]){0,25}"
)
"""Before the date on which it ends, on folded text: `30 Tage, bis 28.10.2026`."""
LONE_DATE = 0.1
CALLED_DATE = re.compile(r"(?:^\W*(?:date|datum|fecha|data|dato)(?![a-z])|\d\W*\s(?:date|datum|fecha|data|dato)\s*:)")
"""At the beginning, or after another value: before it, a word would say of what the date is."""
PLACE_BEFORE_DATE = re.compile(r"[a-z]{3}\W*,\s*(?:den|le|li|il|a)?\s*$")
"""Of a letter's head: `Hamburg, den 1. Mai 2024`."""
OF_A_DAY = re.compile(r"(?:vom|von|du|del|dated|of|van|d\.d\.|le|am|op|il|den)\s*")
"""Before a date, in a cell of its own beside the number."""
BESIDE_NUMBER = 2.6
ABOUT = re.compile(r"\bzu[mr]\b")
"""Between an invoice's title and a date: that of what is charged, `Rechnung 7 zum Gutachten vom 3. Mai 2026`."""
SENTENCE_END = re.compile(r"\.\s")
TITLE_LINE_WORDS = 12
"""Longest line that begins with a title."""
WEAK_DATE_LABEL = 1.5
"""Of labels that may be another paper's: less than a plain `Date:`."""
ABOVE_LABEL = 2.0
"""Of a date above its label, where the others have theirs so as well."""
OVER_LINES = 1.5
"""Of a date in running text whose label stands in the line before."""
AMOUNT = re.compile(r"\d\.\d")
SETTLED = re.compile(
    r",\s|paid|received|thank|bezahlt|erhalten|verbucht|gutschrift|recue?s?\b|regle|pagad|recibid|pagat|ricevut|betaald|"
    r"ontvangen|voldaan|skonto|escompte|discount|korting|descuento|sconto"
)
"""In a sentence, before a day: it says of what has been paid, or the day of something else; on folded text."""
ROWS_BEFORE_A_COLUMN = 3
"""In which words say of what it is."""
SAID_OF_A_DISCOUNT = 1.0
"""What a date loses up to which there is a discount."""
DISCOUNTED = re.compile(
    r"[^.,;]{0,25}(?:\d[.,]\d[^.,;]{0,15})?(?:skonto|escompte|discount|korting|descuento|dto|sconto)"
)
"""Behind the last day of an early payment, on folded text: `bis 23.05.2026 mit 2 % Skonto`."""

PERIOD = re.compile(r"\s*(?:[-\u2013\u2014]|bis|to|until|au|tot|t/m|hasta|al?)\s*(?:zum )?\d")
"""Behind its first day, on folded text."""


@dataclass(frozen=True, slots=True)
class _DateCandidate:
    found: FoundDate
    cell: Cell
    score: float
    source: Source


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
    candidates = list(_dates_at(finder, DUE_DATE, SURE_LABEL, month_first=month_first))
    candidates = candidates or list(_dates_above(finder, DUE_DATE, month_first=month_first))
    return _best_date(finder.layout, candidates or list(_dates_over_lines(finder, month_first=month_first)))


def find_delivery_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the day at a label for when goods were delivered or work was done; a period is none."""
    return _best_date(finder.layout, list(_days_of_delivery(finder, month_first=month_first)))


def _best_date(layout: Layout, candidates: list[_DateCandidate]) -> FieldValue[dt.date]:
    if not candidates:
        return FieldValue()
    best = max(candidates, key=lambda candidate: candidate.score)
    evidence = (Evidence.AMBIGUOUS_DATE,) if best.found.ambiguous else ()
    return found(layout, best.found.value, best.cell, best.source, evidence)


def _dates_at(
    finder: Finder, label: re.Pattern[str], strength: float, *, month_first: bool
) -> Iterator[_DateCandidate]:
    credit_note = document_type(finder.layout) is DocumentType.CREDIT_NOTE
    for labelled in finder.at(label, again=True):
        text = SPACED_DATE.sub(r"\1/\2/\3", labelled.text)
        date = next(find_dates(text, month_first=month_first), None)
        if date is None or (date.start > 12 and not TERM.fullmatch(fold(text[: date.start]))):  # noqa: PLR2004
            continue  # "(dd/mm/yyyy)", "on or before" may stand before it, not half a sentence
        if NEXT_ONES.search(SENTENCE_END.split(told(labelled, date.start))[-1]) or _of_next_ones(
            finder.layout, labelled
        ):
            continue
        if not _says_when(labelled.label, fold(text[: date.start])):
            continue
        weak = bool(WEAK_DATE.match(labelled.label))
        if weak and _beside_an_order(finder.layout, labelled.label_cell):
            continue
        score = WEAK_DATE_LABEL if weak else strength
        score -= SAID_OF_AN_INVOICE * (credit_note and names_an_invoice(labelled.label_cell))
        score += 0.3 * labelled.leads - 0.4 * labelled.place - 0.02 * date.start
        score -= doubt(labelled, date.start) + SAID_OF_A_DISCOUNT * bool(DISCOUNTED.match(fold(text[date.end :])))
        yield _DateCandidate(date, labelled.cell, score, Source.TEXT_LABEL)


def _days_of_delivery(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    for labelled in finder.at(DELIVERY_DATE):
        date = next(find_dates(labelled.text, month_first=month_first), None)
        of_a_line = labelled.place is Place.BELOW and _heads_dates(finder, labelled.label_cell)
        if date and date.start == 0 and not of_a_line and not PERIOD.match(fold(labelled.text[date.end :])):
            yield _DateCandidate(date, labelled.cell, SURE_LABEL - 0.4 * labelled.place, Source.TEXT_LABEL)


def _says_when(label: str, between: str) -> bool:
    """Tell whether a sentence's label, with an amount in it, is of the day that follows with nothing `between`."""
    return not AMOUNT.search(label) or not (SETTLED.search(label) or re.search(r"\w", between))


def _beside_an_order(layout: Layout, cell: Cell) -> bool:
    before = [other for other in layout.rows[cell.row].cells if other.left < cell.left]
    return bool(before) and bool(ORDER.search(before[-1].folded))


def _dates_after_number(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the dates of "Rechnung Nr. 471102 vom 05.06.2018", also where the line breaks before or after "vom"."""
    credit_note = document_type(finder.layout) is DocumentType.CREDIT_NOTE
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
                        or (credit_note and names_an_invoice(cell))
                    )
                    yield _DateCandidate(date, other, 2.8 - SAID_OF_ANOTHER * bool(another), Source.TEXT_LABEL)
        beside = [other for other in finder.layout.rows[cell.row].cells if other.left > cell.left][:1]
        yield from _dates_beside_number(cell.folded[title.end() :], beside, month_first=month_first)


def _dates_beside_number(number: str, beside: Sequence[Cell], *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the date of `Fattura n. 118/2026 | del 20 settembre 2026`, in a cell that says nothing else."""
    for cell in beside if re.search(r"\d", number) else ():
        date = next(find_dates(cell.text, month_first=month_first), None)
        if date and OF_A_DAY.fullmatch(cell.folded[: date.start]) and date.end == len(cell.text):
            yield _DateCandidate(date, cell, BESIDE_NUMBER, Source.TEXT_LABEL)


def _plain_dates(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    yield from _dates_called_date(finder, month_first=month_first)
    layout = finder.layout
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            height = layout.pages[cell.page - 1].height
            if cell.page > 1 or cell.top > HEAD * height:
                return
            charged = is_charged(row, cell)
            for date in find_dates(cell.text, month_first=month_first):
                before = cell.folded[: date.start]
                left = row.cells[index - 1].folded if index and not before.strip() else before
                if _names_another_date(cell.folded, date.start) or _is_of_another_day(left) or charged:
                    continue
                if PLACE_BEFORE_DATE.search(left):
                    yield _DateCandidate(date, cell, 2.0, Source.TEXT_LABEL)
                score = 1.0 - 0.5 * bool(re.search(r"[a-z]", before)) - 0.5 * (cell.top / height)
                yield _DateCandidate(date, cell, score, Source.TEXT_PATTERN)


def _is_of_another_day(left: str) -> bool:
    """Tell whether what stands left of a date names another day than that of the writing."""
    return bool(DUE_DATE.fullmatch(left.strip(" :")) or STAY.search(left))


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
        of_a_line = labelled.place is Place.BELOW and _heads_dates(finder, labelled.label_cell)
        if date is not None and date.start == 0 and not of_a_line:
            low = labelled.cell.top > FOOT * finder.layout.pages[labelled.cell.page - 1].height
            yield _DateCandidate(date, labelled.cell, 2.2 - 0.4 * labelled.place - 1.0 * low, Source.TEXT_LABEL)


def _heads_dates(finder: Finder, cell: Cell) -> bool:
    """Tell whether a head has lines under it that each have their day."""
    under = finder.below(cell)[:2]
    days = [next(find_dates(other.text), None) for other in under]
    return heads_lines(finder.layout.rows[cell.row]) or (len(days) > 1 and all(days))


def _dates_above(finder: Finder, label: re.Pattern[str], *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the dates right above labels that have none beside or below them."""
    layout = finder.layout
    for cell in layout.cells:
        row = layout.rows[cell.row]
        if not label.fullmatch(cell.folded.strip(" :")) or cell.row == 0:
            continue
        after = row.cells[row.cells.index(cell) + 1 :][:1]
        if any(any(find_dates(other.text)) for other in (*after, *finder.below(cell)[:1])):
            continue
        for over in layout.rows[cell.row - 1].cells:
            date = next(find_dates(over.text, month_first=month_first), None)
            whole = date is not None and (date.start, date.end) == (0, len(over.text))
            near = over.page == cell.page and cell.top - over.bottom <= MAX_DROP * cell.height
            if date and whole and near and abs(over.left - cell.left) < cell.height:
                yield _DateCandidate(date, over, ABOVE_LABEL, Source.TEXT_LABEL)


def _dates_over_lines(finder: Finder, *, month_first: bool) -> Iterator[_DateCandidate]:
    """Yield the days on which something is due that running text says over the end of a line."""
    rows = finder.layout.rows
    for cell in (cell for row in rows[:-1] for cell in row.cells if len(cell.words) > SENTENCE_WORDS):
        for under in (other for other in rows[cell.row + 1].cells if _goes_on_in(cell, other)):
            text = f"{cell.text} {under.text}"
            folded = fold(text)
            for label in DUE_DATE.finditer(folded):
                date = next(find_dates(text[label.end() :], month_first=month_first), None)
                over = date and label.start() <= len(cell.text) < label.end() + date.end
                between = folded[label.end() : label.end() + date.start] if date else ""
                if date and over and not re.search(r"\w", between) and _says_when(label.group(), between):
                    yield _DateCandidate(date, under, OVER_LINES, Source.TEXT_LABEL)


def _goes_on_in(cell: Cell, under: Cell) -> bool:
    """Tell whether a line of running text may go on in one of the next row."""
    return under.page == cell.page and under.shares_column(cell) and under.top - cell.bottom <= MAX_DROP * cell.height


def _of_next_ones(layout: Layout, labelled: Labelled) -> bool:
    """Tell whether a label heads a column under words that name what will be asked for later."""
    cell = labelled.label_cell
    above = layout.rows[max(0, cell.row - ROWS_BEFORE_A_COLUMN) : cell.row]
    words = " ".join(row.text for row in above if row.page == cell.page)
    return labelled.place is Place.BELOW and bool(NEXT_ONES.search(fold(words)))


def _names_another_date(text: str, start: int) -> bool:
    """Tell whether the text says of what the date at `start` is, and that is not the document."""
    due, before = DUE_DATE.search(text), text[:start]
    return (due is not None and due.start() < start) or (":" in before and not PLAIN_DATE.match(before))
