"""Find the invoice number and the order reference."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.features import Feature, leaders
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header.document_type import CREDIT_WORDS, find_document_type
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.labels import LEAST_CAPTIONS, Finder, Labelled, Position
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.lines.charges import describes_a_line
from docrail.invoices.readers.lines.tables import is_in_a_table
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

NUMBER_FORM = re.compile(
    r"(?:[A-Z]{1,6}(?:-[A-Z]{1,6})?[ ])?[A-Za-z0-9](?:[\w/.\-]|(?<=\d)['\u2019](?=\d{3}(?!\d)))*(?=$|[\s;)]|,\s|,$)"
)
"""Includes the Swiss thousands separator: `10'482`."""
_FIRST_GROUP = r"(?:[A-Z]{1,4} )?(?:[A-Z]{1,4}[\-./]?)?\d{1,8}(?:[\-./]\d{1,8})*"
GROUPED = re.compile(
    rf"(?:{_FIRST_GROUP}(?: (?:[A-Z]{{1,3}} )?\d{{2,10}})+(?: \d|-\d{{1,4}})?)"
    r"(?=$|\)|[,;] |\s+[\-\u2013\u2014|\u00b7\u2022]\s|\s+(?:vom|von|du|del|dated|of|van|d\.d\.|le|date|datum)\s)"
)
"""A number in groups that ends the text or is followed by a separator: `VR 881 204 55`, `W-26 03318 vom 1. Mai`."""
SLASHED = re.compile(r"(?:[A-Z]{1,6} )?[\w.\-]*\d[\w.\-]* / (?:(?!\d+[.,]\d\d$)[\w.\-]*\d[\w\-]*|[A-Z]{1,3})$")
"""A number with a spaced slash at the end of the text: `TR 3 / 26-077`, or the letter of its series: `74 / A`."""
REMARK = re.compile(r"\([^)\d]*\)\W*")
"""A remark between a label and its number: `Invoice number (please quote): 4711`."""
LONE = re.compile(r"\s*(?:$|[-\u2013\u2014|\u00b7\u2022,/]\s|(?:vom|von|du|del?|dated|of|van|d\.d\.|le|date|datum)\s)")
"""What may follow a number of one digit."""
OTHER_NUMBER = re.compile(r"(?:ABN|ACN|UEN|EIN|VAT|GST|TVA|BTW|IVA|UID|SIRET|SIREN|KvK|CVR|NIF|CIF|P\.?IVA)\b")
"""Prefixes of numbers that are not invoice numbers."""
RECEIPT = re.compile(r"receipt|quittung|recibo|recu|ricevuta|voucher")
"""Labels that name another document if an invoice number is present as well."""
DECIMAL = re.compile(r"\d+[.,]\d\d$")
POSTAL_CODE = re.compile(
    r"\d{4,5} (?!(?:copy|kopie|copie|copia|duplica\w*|original\w*|seite|page|pagina)\b)[a-z]{3,}[^\d]*"
)
"""A postal code and its place, rather than a number and `Copy`; on folded text."""
YEARLY = re.compile(r"\d\d\.\d\d")
"""A number of a year and a count, if it is all that follows the title: `Declaratie 26.11`."""
DATE_HEAD = re.compile(r"\W*(?:date|datum|fecha|data)\W*|.*(?:emitida|emise|emessa|issued|ausgestellt).*")
DATE_LABEL = re.compile(rf"{DATE_HEAD.pattern}|\W*(?:{vocabulary.ISSUE_DATE.pattern})")
TITLE_WORDS, SENTENCE_WORDS = 6, 8
"""Most words in a title, and the length above which a line is a sentence."""
SEPARATED = re.compile(r"\s[|\u00b7\u2022]\s")
"""Between the title and other values in one line: `Final invoice 118 | 14 June 2026`."""
ROWS_BELOW_TITLE, ROWS_OF_LIST = 3, 6
CLOSE = 1.5
"""Difference in score up to which another value makes the best one unsure."""
MOST_DIGITS = 8
"""Digits that count for a number; a longer one is no more likely."""


class NumberAt(Enum):
    """What made a text a candidate for the number."""

    LABEL = "label"
    OTHER_LABEL = "label of another paper"
    TITLE = "title"
    LONG_TITLE = "title that continues"
    DATED_TITLE = "title with a date"
    BARE_LABEL = "bare label"


@dataclass(frozen=True, slots=True)
class NumberCandidate:
    """A text that may be the number of the document; NUMBER has what counts for and against it."""

    value: str
    at: Labelled
    basis: NumberAt
    charged: bool = False
    corrected: bool = False


NUMBER: tuple[Feature[NumberCandidate], ...] = (
    Feature("the label names the document and its number", 3.0, lambda c: c.basis is NumberAt.LABEL),
    Feature("a bare label of a number is next to the title", 2.0, lambda c: c.basis is NumberAt.BARE_LABEL),
    Feature("it follows the title", 1.5, lambda c: c.basis is NumberAt.TITLE),
    Feature("it follows the title and a date", 1.0, lambda c: c.basis is NumberAt.DATED_TITLE),
    Feature("the label may belong to another paper", 0.5, lambda c: c.basis is NumberAt.OTHER_LABEL),
    Feature("it is near a title such as `Invoice for May`", 0.2, lambda c: c.basis is NumberAt.LONG_TITLE),
    Feature(
        "the label names a payment", -0.7, lambda c: c.basis is NumberAt.LABEL and RECEIPT.match(c.at.label) is not None
    ),
    Feature("it is in a line item", -1.5, lambda c: c.charged),
    Feature("the name of a place follows it, as a postal code", -2.0, lambda c: is_before_a_place(c.at)),
    Feature("a credit note names the invoice it corrects", -1.5, lambda c: c.corrected),
    Feature("distance from the label", -0.4, lambda c: c.at.place),
    Feature("the label begins its cell", 0.3, lambda c: c.at.leads),
    Feature("digits", 0.05, lambda c: min(sum(map(str.isdigit, c.value)), MOST_DIGITS)),
    Feature("the label names an earlier document", -2.5, lambda c: names_another(c.at)),
    Feature("the label is in a sentence", -0.6, lambda c: is_in_a_sentence(c.at)),
)


def find_invoice_number(finder: Finder) -> FieldValue[str]:
    """Return the number at the most reliable label; empty if each label refers to another document."""
    best = leaders(NUMBER, invoice_numbers(finder), above=0.0)
    if not best:
        return FieldValue()
    number, close = best[0], leaders(NUMBER, invoice_numbers(finder), above=0.0, within=CLOSE)
    rivals = {squeeze(candidate.value) for candidate in close} - {squeeze(number.value)}
    evidence = (Evidence.SEVERAL_CANDIDATES,) if rivals else ()
    of_another = number.charged or number.corrected or names_another(number.at)
    source = Source.TEXT_PATTERN if of_another else Source.TEXT_LABEL
    return found(finder.layout, number.value, number.at.cell, source, evidence)


def find_order_reference(finder: Finder) -> FieldValue[str]:
    """Return the buyer's order number at its most reliable label. Lines and columns are skipped: they name articles."""
    rows = [
        (labelled, finder.layout.rows[labelled.label_cell.row]) for labelled in finder.at(vocabulary.ORDER_REFERENCE)
    ]
    places = (at for at, row in rows if not (is_charged(row, at.label_cell) or heads_lines(row)))
    best = leaders(NUMBER, (each for at in places for each in _number_at(at, NumberAt.LABEL)))
    return found(finder.layout, best[0].value, best[0].at.cell, Source.TEXT_LABEL) if best else FieldValue()


@lru_cache(maxsize=2)
def invoice_numbers(finder: Finder) -> tuple[NumberCandidate, ...]:
    """Return the texts that may be the invoice number."""
    return (*_at_labels(finder), *_at_titles(finder), *_at_bare_labels(finder), *_at_receipt_names(finder))


def _at_labels(finder: Finder) -> Iterator[NumberCandidate]:
    credit_note = find_document_type(finder.layout).value is DocumentType.CREDIT_NOTE
    for labelled in finder.at(vocabulary.INVOICE_NUMBER):
        credits_another = vocabulary.CREDIT_NUMBER.match(labelled.label) and not credit_note
        of_another = credits_another or vocabulary.OTHER_PAPER.match(labelled.label)
        basis = NumberAt.OTHER_LABEL if of_another else NumberAt.LABEL
        row = finder.layout.rows[labelled.label_cell.row]
        charged = is_charged(row, labelled.label_cell) or describes_a_line(finder.layout, row)
        corrected = is_corrected(finder.layout, text_before(labelled))
        yield from _number_at(labelled, basis, charged=charged, corrected=corrected)


def _at_titles(finder: Finder) -> Iterator[NumberCandidate]:
    for labelled in finder.at(vocabulary.INVOICE_TITLE):
        follows = labelled.leads and labelled.place is Position.SAME_CELL
        line = SEPARATED.split(labelled.label_cell.text)[0]
        is_short = len(line.split()) <= TITLE_WORDS  # not a sentence
        if follows or (is_short and not _has_another_label(finder.layout, labelled)):
            goes_on = not follows and len(labelled.label_cell.words) > len(labelled.label.split()) + 1
            yield from _number_at(labelled, NumberAt.LONG_TITLE if goes_on else NumberAt.TITLE)
    for labelled in finder.at(vocabulary.DATED_NUMBER):
        if labelled.place is Position.SAME_CELL:
            corrected = is_corrected(finder.layout, text_before(labelled))
            yield from _number_at(labelled, NumberAt.DATED_TITLE, corrected=corrected)


def _at_bare_labels(finder: Finder) -> Iterator[NumberCandidate]:
    for labelled in finder.at(vocabulary.BARE_NUMBER):
        whole = labelled.place is Position.SAME_CELL or _is_alone(labelled)
        if whole and _is_of_document(finder.layout, labelled.label_cell):
            yield from _number_at(labelled, NumberAt.BARE_LABEL)


def _at_receipt_names(finder: Finder) -> Iterator[NumberCandidate]:
    """Yield the numbers that directly follow the name of a receipt: `Ticket 3308-07-0219`."""
    for labelled in finder.at(vocabulary.RECEIPT_NAME):
        whole = labelled.place is Position.SAME_CELL or _is_alone(labelled)  # not `Bon de commande`
        if labelled.leads and whole and NUMBER_FORM.fullmatch(labelled.text.strip()):
            yield from _number_at(labelled, NumberAt.OTHER_LABEL)


def _has_another_label(layout: Layout, labelled: Labelled) -> bool:
    """Return whether the value at a title has a label of its own.

    It has if it is in a row of values below the title, or directly below the label of an order or a customer.
    """
    value = labelled.cell
    if labelled.place is Position.BELOW:
        return len(layout.rows[labelled.label_cell.row].cells) < LEAST_CAPTIONS <= len(layout.rows[value.row].cells)
    above = layout.rows[value.row - 1].cells if labelled.place is Position.RIGHT and value.row else ()
    labels = (cell.folded for cell in above if abs(cell.left - value.left) < cell.height / 2)
    return any(vocabulary.ORDER.search(label) or vocabulary.BUYER.search(label) for label in labels)


def has_another_caption(layout: Layout, value: Cell, rows: int = 1) -> bool:
    """Return whether a row of captions, at most `rows` above, has that of an order or another paper over the value."""
    captions = (row for row in layout.rows[max(0, value.row - rows) : value.row] if len(row.cells) >= LEAST_CAPTIONS)
    over = [cell.folded for row in captions for cell in row.cells if abs(cell.left - value.left) < cell.height / 2]
    named = (caption for caption in over if not any(map(str.isdigit, caption)))
    return any(vocabulary.ORDER.search(name) or vocabulary.OTHER_DOCUMENT.search(name) for name in named)


def _is_alone(labelled: Labelled) -> bool:
    return not re.search(r"[a-z]", labelled.label_cell.folded.partition(labelled.label)[2])


def _is_of_document(layout: Layout, cell: Cell) -> bool:
    """Return whether a bare label is at the title or in a list with the date, and not a unit or a heading of lines."""
    if heads_lines(layout.rows[cell.row]) or is_in_a_table(layout, cell.row) or has_another_caption(layout, cell):
        return False
    return _at_title(layout, cell) or _before_a_date(layout, cell) or _in_list_with_date(layout, cell)


def _in_list_with_date(layout: Layout, cell: Cell) -> bool:
    """Return whether the issue date's label is near in the column of the cell: a list describes one document."""
    rows = layout.rows[max(0, cell.row - ROWS_OF_LIST) : cell.row + ROWS_OF_LIST + 1]
    column = (other for row in rows for other in row.cells if _shares_an_edge(other, cell))
    return any(other.page == cell.page and DATE_LABEL.match(other.folded) for other in column)


def _shares_an_edge(one: Cell, other: Cell) -> bool:
    return min(abs(one.left - other.left), abs(one.right - other.right)) < other.height / 2


def _at_title(layout: Layout, cell: Cell) -> bool:
    """Return whether the document's title precedes the cell in its row or in the rows directly above."""
    before = [other for other in layout.rows[cell.row].cells if other.left < cell.left]
    above = [other for row in layout.rows[max(0, cell.row - ROWS_BELOW_TITLE) : cell.row] for other in row.cells]
    titles = (other for other in (*before, *above) if other.page == cell.page and len(other.words) <= TITLE_WORDS)
    return any(vocabulary.INVOICE_TITLE.search(other.folded) for other in titles)


def is_corrected(layout: Layout, label: str) -> bool:
    """Return whether a label on a credit note names the invoice that it corrects, which has a number and date too."""
    return find_document_type(layout).value is DocumentType.CREDIT_NOTE and names_an_invoice(label)


def names_an_invoice(label: str) -> bool:
    """Return whether the last paper that a label names is an invoice, such as the one that a credit note corrects."""
    invoice = max(vocabulary.INVOICES.finditer(label), key=re.Match.end, default=None)
    if invoice is None:
        return False
    word = label.rfind(" ", 0, invoice.start()) + 1
    credit_ends = (credit.end() for credit in CREDIT_WORDS.finditer(label))
    return max(credit_ends, default=0) < invoice.end() and not vocabulary.CORRECTION.search(label, word)


def _before_a_date(layout: Layout, cell: Cell) -> bool:
    """Return whether the cell starts a header row that includes a date: `Number | Date | Customer`."""
    row = layout.rows[cell.row]
    dated = any(DATE_HEAD.fullmatch(other.folded) for other in row.cells[1:])
    return cell is row.cells[0] and dated


def heads_lines(row: Row) -> bool:
    """Return whether the row holds the column headings of the line items."""
    heads = " | ".join(cell.folded for cell in row.cells)
    counts = any(
        column.search(heads) for column in (vocabulary.LINE_QUANTITY, vocabulary.LINE_PRICE, vocabulary.LINE_AMOUNT)
    )
    return counts and bool(vocabulary.LINE_DESCRIPTION.search(heads))


def _number_at(
    labelled: Labelled, basis: NumberAt, *, charged: bool = False, corrected: bool = False
) -> Iterator[NumberCandidate]:
    text = REMARK.sub("", labelled.text)
    sign = vocabulary.BARE_NUMBER.match(fold(text)) if text != labelled.text else None
    text = text[sign.end() :].lstrip(" .:") if sign else text
    match = GROUPED.match(text) or _slashed(text) or NUMBER_FORM.match(text)
    if not match:
        return
    value = match.group().rstrip(".-/")
    lone = basis is NumberAt.LABEL and value.isdigit() and LONE.match(text, match.end())  # the first invoices of all
    counted = basis is NumberAt.TITLE and labelled.leads and YEARLY.fullmatch(text)
    if OTHER_NUMBER.match(value) or not (lone or counted or _is_number(value)):
        return
    if not any(date.start < match.end() for date in find_dates(text)):
        yield NumberCandidate(value, labelled, basis, charged, corrected)


def is_charged(row: Row, cell: Cell) -> bool:
    """Return whether the row ends in an amount: it is a line item, which may mention other documents and dates."""
    return cell is not row.cells[-1] and any(amount.exact for amount in find_amounts(row.cells[-1].text))


def _slashed(text: str) -> re.Match[str] | None:
    """Return a number with a spaced slash; None if the text contains a date."""
    return None if any(find_dates(text)) else SLASHED.match(text)


def names_another(labelled: Labelled, start: int = 0) -> bool:
    """Return whether the text before the value at `start` names another document."""
    return bool(vocabulary.OTHER_DOCUMENT.search(text_before(labelled, start)))


def is_before_a_place(labelled: Labelled) -> bool:
    """Return whether the value next to a label is a postal code with its place: an address may stand in that row."""
    return labelled.place is not Position.SAME_CELL and POSTAL_CODE.fullmatch(fold(labelled.text)) is not None


def is_in_a_sentence(labelled: Labelled) -> bool:
    """Return whether the label is inside running text."""
    parts = SEPARATED.split(labelled.label_cell.text)
    return not labelled.leads and max(len(part.split()) for part in parts) > SENTENCE_WORDS


def text_before(labelled: Labelled, start: int = 0) -> str:
    """Return the text of the label's cell up to the value at `start` in the text; folded."""
    cell = labelled.label_cell
    value = len(cell.text) - len(labelled.text) + start
    return cell.folded[:value] if labelled.place is Position.SAME_CELL else cell.folded


def _is_number(value: str) -> bool:
    """Return whether the value can be a document number: two or more characters with a digit, and not an amount."""
    return any(c.isdigit() for c in value) and not DECIMAL.match(value) and len(value) >= 2  # noqa: PLR2004
