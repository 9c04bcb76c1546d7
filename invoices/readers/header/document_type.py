"""Find out what a document is: an invoice, a credit note, or another paper that must not be read as one.

A paper is called by its title: a short cell near the top that says nothing but the name, a number and a date. Labels
(`Purchase order: 4711`) have the same words, so a name counts more the more it stands out as a title does, and an
invoice may mention any other paper. The sign of the total has a say as well: `Rechnungskorrektur` may mean a credit
note or a corrected invoice, and an `Invoice` that gives money back is not sure to be one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from statistics import median

from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.features import Feature, score
from docrail.invoices.languages.all import PAPERS
from docrail.invoices.languages.language import NO
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header.terms import TERM
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.places import computed, found

CREDIT_WORDS = vocabulary.any_of(*PAPERS[DocumentType.CREDIT_NOTE])
RECEIPT_WORDS = vocabulary.any_of(*PAPERS[DocumentType.RECEIPT])
HEAD = 0.5
"""Share of the first page in which a title may stand."""
TITLE_WORDS, TITLE_LETTERS = 7, 80
LARGER = 1.15
"""A title's height, as a multiple of the usual height of the page's words."""
LEAST, LEAST_ALONE = 2.0, 0.7
"""Fewest points of a title that makes a paper something else than an invoice; less is enough if nothing in the document
names an invoice."""
DOUBT = (Evidence.SEVERAL_CANDIDATES,)
_NUMBERED = rf"\W*(?:{NO}(?![a-z])\W*)?(?:[a-z]{{0,5}}[\W_]*\d[\w./\- ]*)?\W*"
_DATED = r"(?:(?:vom|von|du|dated|date|of|van|del?|datum|fecha|data|z dnia|ze dne)\b\W*.{0,24})?"
_ABOUT = (
    r"\W+(?:zur?|zum|for|fur|re|on|concerning|sur|pour|per|sulla|voor|inzake|sobre|do|til|till) .*|"
    r"\s+[-\u2013\u2014|] .*"
)
AFTER_TITLE = rf"(?:{_NUMBERED}{_DATED}|{_ABOUT})"
"""What may follow a name in a title: a number, a date, what it is about."""
_INVOICE = vocabulary.INVOICE_TITLE.pattern
INVOICE_TOO = re.compile(rf"\s?(?:/\s?{_INVOICE}|[-\u2013]\s?{_INVOICE}(?=\W*$))")
"""After a receipt's name, if the paper is both: `Recibo - Factura`. `Receipt - Invoice 77` confirms a payment."""


@dataclass(frozen=True, slots=True)
class Title:
    """A cell that may be the document's title."""

    kind: DocumentType
    cell: Cell
    rest: str
    """The folded text after the name."""
    usual: float
    """The usual height of words on its page."""
    alone: bool
    """Whether no other cell is in its row."""
    depth: float
    """Its distance from the top of the page, as a share of the page."""


TITLE: tuple[Feature[Title], ...] = (
    Feature("it says nothing else", 1.0, lambda t: not t.rest.strip(" .:*-")),
    Feature("a number or a date follows the name", 0.5, lambda t: bool(t.rest.strip(" .:*-"))),
    Feature("it says what the paper is about", 1.5, lambda t: re.match(_ABOUT, t.rest) is not None),
    Feature("it is printed larger than the text", 1.5, lambda t: t.cell.height >= LARGER * t.usual),
    Feature("nothing is next to it", 0.6, lambda t: t.alone),
    Feature("it is in capitals", 0.4, lambda t: t.cell.text.isupper()),
    Feature("it ends like a label", -1.2, lambda t: t.cell.text.rstrip().endswith(":") or t.rest.startswith(":")),
    Feature("distance from the top", -1.0, lambda t: t.depth),
)


@lru_cache(maxsize=4)  # each rule for numbers and dates asks whether it is a credit note
def find_document_type(layout: Layout, total: Decimal | None = None) -> FieldValue[DocumentType]:
    """Return what the document calls itself, with the words that say so; `total` is what it asks for, if known.

    A credit note may be called so in any short cell, because its amounts give it away; another paper only by a title
    that stands out more than any title of an invoice. What nothing names is taken for an invoice, as a guess.
    """
    titles = _titles(layout)
    named = next(_invoice_names(layout), None)
    other = next((title for title in titles[:1] if title.kind is not DocumentType.INVOICE), None)
    least = LEAST if named else LEAST_ALONE
    if other and (other.kind is DocumentType.CREDIT_NOTE or score(TITLE, other) >= least):
        return found(layout, other.kind, other.cell, Source.TEXT_LABEL)
    title = next((title.cell for title in titles if title.kind is DocumentType.INVOICE), named)
    corrects = title is not None and vocabulary.CORRECTION.search(title.folded) is not None
    short = (cell for cell in layout.cells[:40] if len(cell.words) <= 4)  # noqa: PLR2004  # words of a title
    if credit := next((cell for cell in short if CREDIT_WORDS.search(cell.folded)), None):
        is_sure = corrects or other is not None or not titles
        return found(layout, DocumentType.CREDIT_NOTE, credit, Source.TEXT_LABEL, () if is_sure else DOUBT)
    if title is None:
        return computed(layout, DocumentType.INVOICE, Source.TEXT_PATTERN)
    gives_back = total is not None and total < 0
    kind = DocumentType.CREDIT_NOTE if corrects and gives_back else DocumentType.INVOICE
    is_sure = other is None and corrects == gives_back
    return found(layout, kind, title, Source.TEXT_LABEL, () if is_sure else DOUBT)


def _invoice_names(layout: Layout) -> Iterator[Cell]:
    """Yield the short cells that name an invoice or its number, rather than the number of another paper."""
    for cell in layout.cells:
        if len(cell.words) > TITLE_WORDS:
            continue
        number = vocabulary.INVOICE_NUMBER.search(cell.folded)
        another = number and (vocabulary.OTHER_PAPER.match(number.group()) or RECEIPT_WORDS.match(number.group()))
        if (number and not another) or vocabulary.INVOICE_TITLE.search(cell.folded):
            yield cell


@lru_cache(maxsize=2)
def _titles(layout: Layout) -> list[Title]:
    """Return the cells that may be the title, the likeliest first."""
    return sorted(_possible_titles(layout), key=lambda title: score(TITLE, title), reverse=True)


def _possible_titles(layout: Layout) -> Iterator[Title]:
    if not layout.pages:
        return
    first = layout.pages[0]
    usual = median([word.height for word in first.words]) if first.words else 0.0
    for row in layout.rows:
        if row.page != first.number or row.top > HEAD * first.height:
            continue
        for cell in row.cells:
            if len(cell.words) <= TITLE_WORDS and len(cell.text) <= TITLE_LETTERS and (named := _name_of(cell)):
                kind, rest = named
                yield Title(kind, cell, rest, usual, len(row.cells) == 1, row.top / first.height)


def _name_of(cell: Cell) -> tuple[DocumentType, str] | None:
    text = cell.folded.strip()
    for kind, title in NAMES.items() if ANY_NAME.match(text) else ():
        match = title.fullmatch(text)
        if match and not TERM.search(match["rest"]):  # `Recibo 15 días` is a way of payment
            if kind is DocumentType.RECEIPT and (both := INVOICE_TOO.match(match["rest"])):
                return DocumentType.INVOICE, match["rest"][both.end() :]
            return kind, match["rest"]
    return None


def _title(*names: str) -> re.Pattern[str]:
    return re.compile(rf"\W*{vocabulary.any_of(*names).pattern}(?P<rest>{AFTER_TITLE})")


NAMES = {
    **{kind: _title(*names) for kind, names in PAPERS.items()},
    DocumentType.INVOICE: _title(vocabulary.INVOICE_WORDS),
}
"""How each paper is called; the first match counts, so `Invoice reminder` is no invoice."""
ANY_NAME = re.compile(
    rf"\W*{vocabulary.any_of(*(name for names in PAPERS.values() for name in names), vocabulary.INVOICE_WORDS).pattern}"
)
"""Begins a cell that any of them matches: few do."""
