"""Find the issue, due and delivery dates: at labels, after the invoice number, or in the head of the page."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header import number
from docrail.invoices.readers.header.terms import DAYS, PAID_BY
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.labels import MAX_DROP, Finder, Labelled, Position
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.lines.charges import describes_a_line
from docrail.invoices.readers.lines.tables import is_in_a_table
from docrail.invoices.values.dates import FoundDate, find_dates
from docrail.invoices.values.folding import fold

HEAD = 0.45
"""Share of the first page in which an unlabelled date may be the issue date."""
SPACED_DATE = re.compile(r"^(\d{1,2}) (\d{1,2}) (\d{4}|\d\d)$")
"""A date from a form with boxes for day, month and year; accepted only at a label."""
TIME = re.compile(r"(?<![\d:])[0-2]?\d:[0-5]\d(?!\d)")
"""A time in the row of a date, as tills print it."""
_NOT_FROM = r"(?!\b(?:nach|ab|after|from|na|vanaf|desde|depuis|dalla)\b)"
TERM = re.compile(
    r"\W*\d{1,3} (?:tagen?|days|jours|dagen|dias|giorni|gg)(?![a-z])"
    r"(?:(?:i\.e|d\. ?[hf]|vto|scad)\.|" + _NOT_FROM + r"[^.;\d]){0,25}"
    rf"|(?:{_NOT_FROM}[^.;()]){{0,60}}\("
)
"""A payment term before the date on which it ends, on folded text: `30 Tage, bis 28.10.2026`, or in brackets."""
REMARK = re.compile(r"^\([^)]*\)\W*")
"""Remark in brackets between a label and its date: `Invoice date (tax point):`."""
AFTER_DAYS = re.compile(rf"\d (?:{DAYS})\W*(?:[a-z]+\W+)?$")
"""A number of days before the label of the date from which they are counted."""
CALLED_DATE = re.compile(r"(?:^\W*(?:date|datum|fecha|data|dato)(?![a-z])|\d\W*\s(?:date|datum|fecha|data|dato)\s*:)")
"""Accepted at the start of a cell or after another value: a word before it could name another kind of date."""
PLACE_BEFORE_DATE = re.compile(r"[a-z]{3}\W*,\s*(?:den|am|le|li|il|a)?\s*:?\s*$")
"""A place before the date, as in letters: `Hamburg, den 1. Mai 2024`."""
SIGNED_AT = re.compile(r"(?:en|fait a|rilasciat[ao] a) (?P<place>[a-z][a-z' .()-]{2,39}), (?:a|el|le|il) (?=\d)")
"""A place before the date at the end of a page: `Fait à Lyon, le 3 mai 2026`; on folded text."""
OF_A_DAY = re.compile(r"(?:vom|von|du|del|dated|of|van|d\.d\.|le|am|op|il|den)\s*")
"""Words before a date that has its own cell next to the number."""
ABOUT = re.compile(r"\bzu[mr]\b|\(\w+ \w[^)]*$")
"""Between a title and a date that belongs to the subject: `Rechnung 7 zum Gutachten vom 3. Mai 2026`."""
SUBJECT = re.compile(r"[a-z] ?:.*\w|(?<![a-z])(?!nummer|number|numero|date[dn]?|datum|fecha|data|datado|vom)[a-z]{4}")
"""Before the date in the line below a title, a noun that it belongs to: `Convention du 4 mai`."""
SENTENCE_END = re.compile(r"\.\s")
WORD = re.compile(r"[^\W\d_]{4}")
TITLE_LINE_WORDS = 12
"""Most words in a line that starts with a title."""
AMOUNT = re.compile(r"\d\.\d")
_DISCOUNT = "skonto|escompte|discount|korting|descuento|dto|sconto"
SETTLED = re.compile(
    r",\s|paid|received|thank|bezahlt|erhalten|verbucht|gutschrift|recue?s?\b|regle|pagad|recibid|pagat|ricevut|betaald|"
    rf"ontvangen(?! wij)|voldaan|{_DISCOUNT}"
)
"""Words before a date that was a payment, or belongs to something else, on folded text."""
ROWS_BEFORE_A_COLUMN = 3
"""Rows above a column in which words may describe it."""
_A_DISCOUNT = rf"{vocabulary.NOT_WITHOUT}\b(?:(?:\w*s)?skonto\w*|\w*korting|{_DISCOUNT})"
"""Also in compounds, `Barzahlungsskonto` and `betalingskorting`, but not in `Gesch\u00e4ftskonto`."""
DISCOUNTED = re.compile(rf"[^.,;]{{0,25}}(?:\d[.,]\d[^.,;]{{0,15}})?{_A_DISCOUNT}")
"""Text after the last date of an early-payment discount, on folded text: `bis 23.05.2026 mit 2 % Skonto`."""
DISCOUNT_BEFORE = re.compile(rf"{_A_DISCOUNT}(?![a-z])[^,;]*$")
"""The same before it: `2 % discount if paid by`."""

PERIOD = re.compile(r"\s*(?:[-\u2013\u2014]|bis|to|until|au|tot|t/m|hasta|al?)\s*(?:zum )?\d")
"""Text after the first date of a period, on folded text."""


class DateAt(Enum):
    """What made a date a candidate."""

    LABEL = "label"
    OTHER_LABEL = "label of another document"
    NUMBER = "after the invoice number"
    NEXT_TO_NUMBER = "next to the invoice number"
    CALLED_DATE = "label `Date`"
    PLACE = "after a place"
    OVER_LINES = "label on the line before"
    HEAD = "head of the page"
    ALONE = "only date"


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """A date that may be the wanted one, with what counts for and against it in DATE."""

    found: FoundDate
    cell: Cell
    basis: DateAt
    place: int = 0
    leads: bool = False
    in_a_sentence: bool = False
    after_words: bool = False
    """Whether words are before it in a cell of its own, which may be its label."""
    of_another: bool = False
    corrected: bool = False
    discounted: bool = False
    """Whether a discount ends on it: payment without one is due later."""


DATE: tuple[Feature[DateCandidate], ...] = (
    Feature("the label names the date", 3.0, lambda c: c.basis is DateAt.LABEL),
    Feature("it follows the invoice number", 2.8, lambda c: c.basis is DateAt.NUMBER),
    Feature("it is next to the invoice number", 2.6, lambda c: c.basis is DateAt.NEXT_TO_NUMBER),
    Feature("it is called `Date`", 2.2, lambda c: c.basis is DateAt.CALLED_DATE),
    Feature("it follows a place, as in letters", 2.0, lambda c: c.basis is DateAt.PLACE),
    Feature("the label may belong to another document", 1.5, lambda c: c.basis is DateAt.OTHER_LABEL),
    Feature("the label is on the line before, in running text", 1.5, lambda c: c.basis is DateAt.OVER_LINES),
    Feature("it is in the head of the page", 1.0, lambda c: c.basis is DateAt.HEAD),
    Feature("it is the only date, with a time", 0.1, lambda c: c.basis is DateAt.ALONE),
    Feature("a credit note names the invoice it corrects", -1.5, lambda c: c.corrected),
    Feature("the label begins its cell", 0.3, lambda c: c.leads),
    Feature("distance from the label", -0.4, lambda c: c.place),
    Feature("the label names another document", -2.5, lambda c: c.of_another),
    Feature("the label is in a sentence", -0.6, lambda c: c.in_a_sentence),
    Feature("words are before it in another cell than the label's", -0.5, lambda c: c.after_words),
)


def find_issue_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the most reliable label, the date after the invoice number, or a lone date in the head."""
    return _best_date(finder.layout, issue_dates(finder, month_first=month_first))


def find_due_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date at the most reliable due date label, else in running text."""
    labelled = _dates_at(finder, vocabulary.DUE_DATE, month_first=month_first)
    at_labels = [date for date in labelled if not date.discounted]
    return _best_date(finder.layout, at_labels or _dates_over_lines(finder, month_first=month_first))


def find_delivery_date(finder: Finder, *, month_first: bool) -> FieldValue[dt.date]:
    """Return the date of delivery or service at a label; periods are ignored."""
    dates = _dates_directly_at(finder, vocabulary.DELIVERY_DATE, month_first=month_first)
    single = ((at, date) for at, date in dates if not PERIOD.match(fold(at.text[date.end :])))
    return _best_date(finder.layout, [DateCandidate(date, at.cell, DateAt.LABEL, at.place) for at, date in single])


def _best_date(layout: Layout, candidates: Iterable[DateCandidate]) -> FieldValue[dt.date]:
    candidates = list(candidates)
    best = next(iter(leaders(DATE, candidates)), None)
    if best is None:
        return FieldValue()
    close = (each for each in leaders(DATE, candidates, within=number.CLOSE) if each.basis is not DateAt.HEAD)
    of_another = best.of_another and best.basis is DateAt.NUMBER
    guessed = of_another or best.basis in (DateAt.HEAD, DateAt.ALONE)
    source = Source.TEXT_PATTERN if guessed else Source.TEXT_LABEL
    timed = guessed and TIME.search(layout.rows[best.cell.row].text)
    facts = (
        (Evidence.AMBIGUOUS_DATE, best.found.ambiguous),
        (Evidence.SEVERAL_CANDIDATES, any(each.found.value != best.found.value for each in close)),
        (Evidence.WITH_TIME, timed),
    )
    return found(layout, best.found.value, best.cell, source, tuple(fact for fact, holds in facts if holds))


def issue_dates(finder: Finder, *, month_first: bool) -> list[DateCandidate]:
    """Return the dates that may be the date of issue."""
    candidates = [
        *_dates_at(finder, vocabulary.ISSUE_DATE, month_first=month_first),
        *_dates_after_number(finder, month_first=month_first),
        *_dates_called_date(finder, month_first=month_first),
        *_dates_in_head(finder.layout, month_first=month_first),
        *_dates_of_signing(finder.layout, month_first=month_first),
    ]
    return candidates or _lone_date(finder.layout, month_first=month_first)


def _dates_at(finder: Finder, label: re.Pattern[str], *, month_first: bool) -> Iterator[DateCandidate]:
    for labelled in finder.at(label, again=True):
        text = SPACED_DATE.sub(r"\1/\2/\3", REMARK.sub("", labelled.text))
        date = next(find_dates(text, month_first=month_first), None)
        other = date and labelled.place is not Position.SAME_CELL and ":" in text[: date.start]  # its own label
        if date is None or other or (date.start > 12 and not TERM.fullmatch(fold(text[: date.start]))):  # noqa: PLR2004
            continue  # "(dd/mm/yyyy)" or "on or before" may precede it, but not half a sentence
        before = number.text_before(labelled, date.start)
        later = vocabulary.NEXT_ONES.search(SENTENCE_END.split(before)[-1]) or _of_next_ones(finder.layout, labelled)
        paid = PAID_BY.search(labelled.label_cell.folded.partition(labelled.label)[0])
        if (
            later
            or paid
            or not _says_when(labelled.label, fold(text[: date.start]))
            or _belongs_to_a_sentence(labelled, date)
        ):
            continue
        weak = bool(vocabulary.WEAK_DATE.match(labelled.label))
        yield DateCandidate(
            date,
            labelled.cell,
            DateAt.OTHER_LABEL if weak else DateAt.LABEL,
            place=labelled.place,
            leads=labelled.leads,
            in_a_sentence=number.is_in_a_sentence(labelled),
            after_words=labelled.place is not Position.SAME_CELL and bool(WORD.search(text[: date.start])),
            of_another=number.names_another(labelled, date.start) or _begins_a_term(labelled),
            corrected=number.is_corrected(finder.layout, before),
            discounted=bool(DISCOUNT_BEFORE.search(before) or DISCOUNTED.match(fold(text)[date.end :])),
        )


def _belongs_to_a_sentence(labelled: Labelled, date: FoundDate) -> bool:
    """Return whether a date below a label is not its value: amid words that begin left of it, or below a sentence."""
    amid = WORD.search(labelled.text[: date.start]) and WORD.search(labelled.text[date.end :])
    begins_left = labelled.cell.left < labelled.label_cell.left - labelled.label_cell.height
    below_a_sentence = len(labelled.label_cell.words) > number.SENTENCE_WORDS
    return labelled.place is Position.BELOW and (below_a_sentence or bool(amid and begins_left))


def _says_when(label: str, between: str) -> bool:
    """Return whether a sentence's label that contains an amount belongs to the date after it.

    `between` is the text between the label and the date.
    """
    return not AMOUNT.search(label) or not (SETTLED.search(label) or re.search(r"\w", between))


def _begins_a_term(labelled: Labelled) -> bool:
    """Return whether a label only says from when days are counted, and the date is their end: `30 gg data fattura`."""
    before = labelled.label_cell.folded.partition(labelled.label)[0]
    return bool(AFTER_DAYS.search(before))


def _dates_after_number(finder: Finder, *, month_first: bool) -> Iterator[DateCandidate]:
    """Yield the dates of "Rechnung Nr. 471102 vom 05.06.2018", with a new line or cell before or after "vom"."""
    for cell in finder.layout.cells:
        title = vocabulary.INVOICE_TITLE.search(cell.folded)
        if not title or len(cell.words) > TITLE_LINE_WORDS:
            continue
        for other in (cell, *finder.below(cell)[:1]):
            text = other.text if other is cell else f"{cell.text} {other.text}"
            shift = len(text) - len(other.text)
            for date in find_dates(text, month_first=month_first):
                between = fold(text)[title.end() : date.start]
                if date.start >= max(title.end(), shift) and vocabulary.DATE_AFTER_NUMBER.search(between):
                    before = fold(text)[: date.start]
                    another = (
                        ABOUT.search(between)
                        or (other is not cell and SUBJECT.search(fold(text)[shift : date.start]))
                        or vocabulary.ORDER.search(between)
                        or vocabulary.OTHER_DOCUMENT.search(before)
                        or (other is not cell and number.has_another_caption(finder.layout, other))
                        or number.is_corrected(finder.layout, before)
                    )
                    yield DateCandidate(date, other, DateAt.NUMBER, of_another=bool(another))
        for right in [other for other in finder.layout.rows[cell.row].cells if other.left > cell.left][:1]:
            next_date = next(find_dates(right.text, month_first=month_first), None)
            if next_date and next_date.end == len(right.text) and OF_A_DAY.fullmatch(right.folded[: next_date.start]):
                yield DateCandidate(next_date, right, DateAt.NEXT_TO_NUMBER)


def _dates_in_head(layout: Layout, *, month_first: bool) -> Iterator[DateCandidate]:
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            height = layout.pages[cell.page - 1].height
            if cell.page > 1 or cell.top > HEAD * height:
                return
            if describes_a_line(layout, row) and is_in_a_table(layout, row.number):
                break
            for date in find_dates(cell.text, month_first=month_first):
                before = cell.folded[: date.start]
                left = row.cells[index - 1].folded if index and not before.strip() else before
                if _names_another_date(cell.folded, date.start, left) or number.is_charged(row, cell):
                    continue
                if PLACE_BEFORE_DATE.search(left) and not TIME.search(cell.text, date.end):  # of an appointment
                    yield DateCandidate(date, cell, DateAt.PLACE)
                yield DateCandidate(date, cell, DateAt.HEAD, of_another=number.has_another_caption(layout, cell, 2))


def _dates_of_signing(layout: Layout, *, month_first: bool) -> Iterator[DateCandidate]:
    """Yield the dates after a place where the invoice was signed, anywhere: `En Toledo, a 27 de marzo de 2026`."""
    for cell in layout.cells:
        signed = SIGNED_AT.match(cell.folded)
        if signed and cell.text[signed.start("place")].isupper():
            dates = find_dates(cell.text, month_first=month_first)
            yield from (DateCandidate(date, cell, DateAt.PLACE) for date in dates if date.start == signed.end())


def _lone_date(layout: Layout, *, month_first: bool) -> list[DateCandidate]:
    """Return the only date in the document if a till printed it with the time."""
    dates = [(date, cell) for cell in layout.cells for date in find_dates(cell.text, month_first=month_first)]
    timed = [(date, cell) for date, cell in dates if TIME.search(layout.rows[cell.row].text)]
    if not timed or len({date.value for date, _ in dates}) > 1:
        return []
    return [DateCandidate(*timed[0], DateAt.ALONE)]


def _dates_called_date(finder: Finder, *, month_first: bool) -> Iterator[DateCandidate]:
    for at, date in _dates_directly_at(finder, CALLED_DATE, month_first=month_first):
        if not _names_another_day(at):
            yield DateCandidate(date, at.cell, DateAt.CALLED_DATE, at.place)


def _dates_directly_at(
    finder: Finder, label: re.Pattern[str], *, month_first: bool
) -> Iterator[tuple[Labelled, FoundDate]]:
    """Yield the dates that directly follow a label, which is not the heading of a column of dates."""
    for labelled in finder.at(label):
        date = next(find_dates(labelled.text, month_first=month_first), None)
        of_a_line = labelled.place is Position.BELOW and _heads_dates(finder, labelled.label_cell)
        if date and date.start == 0 and not of_a_line:
            yield labelled, date


def _names_another_day(labelled: Labelled) -> bool:
    """Return whether `Date` only begins the label of an order's or a delivery's date, or of the due date."""
    others = (vocabulary.ORDER, vocabulary.DELIVERY_DATE, vocabulary.DUE_DATE)
    apart = labelled.place is not Position.SAME_CELL
    return apart and any(other.search(labelled.label_cell.folded) for other in others)


def _heads_dates(finder: Finder, cell: Cell) -> bool:
    """Return whether the cell heads a column in which each line has a date."""
    under = finder.below(cell)[:2]
    days = [next(find_dates(other.text), None) for other in under]
    return number.heads_lines(finder.layout.rows[cell.row]) or (len(days) > 1 and all(days))


def _dates_over_lines(finder: Finder, *, month_first: bool) -> Iterator[DateCandidate]:
    """Yield due dates in running text where the label ends one line and the date is on the next."""
    rows = finder.layout.rows
    for cell in (cell for row in rows[:-1] for cell in row.cells if len(cell.words) > number.SENTENCE_WORDS):
        for under in (other for other in rows[cell.row + 1].cells if _goes_on_in(cell, other)):
            text = f"{cell.text} {under.text}"
            folded = fold(text)
            for label in vocabulary.DUE_DATE.finditer(folded):
                date = next(find_dates(text[label.end() :], month_first=month_first), None)
                over = date and label.start() <= len(cell.text) < label.end() + date.end
                between = folded[label.end() : label.end() + date.start] if date else ""
                if date and over and not re.search(r"\w", between) and _says_when(label.group(), between):
                    yield DateCandidate(date, under, DateAt.OVER_LINES)


def _goes_on_in(cell: Cell, under: Cell) -> bool:
    """Return whether a line of running text may continue in a cell of the next row."""
    return under.page == cell.page and under.shares_column(cell) and under.top - cell.bottom <= MAX_DROP * cell.height


def _of_next_ones(layout: Layout, labelled: Labelled) -> bool:
    """Return whether a label heads a column below words that announce future charges."""
    cell = labelled.label_cell
    above = layout.rows[max(0, cell.row - ROWS_BEFORE_A_COLUMN) : cell.row]
    words = " ".join(row.text for row in above if row.page == cell.page)
    return labelled.place is Position.BELOW and bool(vocabulary.NEXT_ONES.search(fold(words)))


def _names_another_date(text: str, start: int, left: str) -> bool:
    """Return whether the text before a date, or to the left of its cell, labels it as another than the issue date."""
    due, before = vocabulary.DUE_DATE.search(text), text[:start]
    if (due is not None and due.start() < start) or (":" in before and not vocabulary.PLAIN_DATE.match(before)):
        return True
    return bool(vocabulary.DUE_DATE.fullmatch(left.strip(" :")) or vocabulary.STAY.search(left))
