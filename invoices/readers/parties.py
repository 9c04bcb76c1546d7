"""Tells seller from buyer: which block of the page belongs to whom, and what each is called."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from invoices.checks import CURRENCIES
from invoices.model import Evidence, FieldValue, Source
from invoices.readers.dates import find_dates
from invoices.readers.folding import fold, squeeze
from invoices.readers.found import found
from invoices.readers.geometry import Cell, Layout
from invoices.readers.labels import MAX_DROP, Finder, Labelled, Place
from invoices.readers.numbers import find_amounts
from invoices.readers.vocabulary import BUYER, INVOICE_TITLE, LINE_COLUMNS, SELLER

LEGAL_FORM = re.compile(
    r"\b(?:gmbh(?: & co\.? kg)?|ag|kg|ohg|ug|e\.?k\.?|gbr|mbh|se|ltd|limited|inc|llc|llp|plc|corp|corporation|co|"
    r"b\.?v\.?|n\.?v\.?|v\.?o\.?f\.?|s\.?a\.?r\.?l\.?|s\.?a\.?s\.?u?|s\.?a\.?|eurl|s\.?l\.?u?|s\.?r\.?l\.?s?|s\.?p\.?a\.?|"
    r"company|a/?s|aps|ab|oy|a\.?g\.?|sp\. z o\.?o\.?|s\.r\.o|kft|pvt|pty|a\.g|e\.v|gmbh & co)(?![a-z])\.?"
)
FREE_MAIL = frozenset({"gmail", "gmx", "web", "yahoo", "hotmail", "outlook", "icloud", "aol", "t-online", "example"})
DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([a-z0-9-]+(?:\.[a-z0-9-]+)*)\.[a-z]{2,6}\b")
NO_NAME = re.compile(
    r"^\W*(?:page|seite|pagina|tel|fax|phone|e-?mail|date|datum|gln|nummer|number|no|nr|iban|bic|vat|ust|btw|tva|tax|www|http|"
    r"original|copy|kopie|copie|duplicate|herrn?|frau|mr|mrs|to|from|bill|bank|swift|kvk|siret|invoice|receipt|payment|"
    r"globale|summary|total|amount|account|email|dear|terms|po|p\.o|order|your|ihre?|uw|votre|www)\b"
)
COUNTRY = re.compile(
    r"deutschland|germany|austria|osterreich|schweiz|switzerland|suisse|france|frankreich|nederland|netherlands|"
    r"belgie|belgique|belgium|luxembourg|italia|italy|espana|spain|portugal|united kingdom|united states|usa|uk|india"
)
STREET = re.compile(r"^\d|\d{4,}|\b\d{1,4}[a-z]?$")
NAME_LABEL = re.compile(r"\W*(?:name|firma|company(?: name)?|nom|naam|nombre|ragione sociale)\W*")
MAX_NAME_WORDS, MAX_NAME_LENGTH = 8, 70
NAMED_AGAIN = 0.25
"""Support of one more mention on the page: in the footer, at the account, in a web address."""
MAX_BLOCK_CELLS = 16
"""Seven lines of an address, some with labels beside them."""
COLUMN = 0.42
"""Share of the page's width that a block has where nothing stands to its right."""
GAP = 1.4
"""A block ends at a gap of more than this many line heights."""
TOP, BOTTOM = 0.33, 0.85
"""Shares of the page where letterheads and footers are."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    cell: Cell
    score: float
    source: Source


def buyer_cells(finder: Finder) -> list[Cell]:
    """Return the cells of every block that a label gives to the buyer or a recipient."""
    cells: list[Cell] = []
    for labelled in finder.at(BUYER):
        if labelled.leads and len(labelled.label_cell.words) <= MAX_NAME_WORDS:
            start = labelled.label_cell if labelled.place is not Place.RIGHT else labelled.cell
            if labelled.place is Place.RIGHT and not _is_name(labelled.text):
                continue
            cells.extend([start, *_block(finder, start)])
    return cells


def find_buyer_name(finder: Finder) -> FieldValue[str]:
    """Return the name at the first buyer label that has one."""
    for labelled in finder.at(BUYER):
        if labelled.leads and _is_name(labelled.text):
            return found(finder.layout, _clean(labelled.text), labelled.cell, Source.TEXT_LABEL)
    return FieldValue()


def find_vendor_name(finder: Finder, buyers: Sequence[Cell]) -> FieldValue[str]:
    """Return the likeliest name of who wrote the invoice: labelled, in the letterhead, or in the footer."""
    layout = finder.layout
    buyer_names = {squeeze(cell.text) for cell in buyers}
    candidates = [*_labelled(finder), *_senders(layout), *_names(layout)]
    own = [c for c in candidates if c.cell not in buyers and squeeze(c.name) not in buyer_names]
    if not own:
        return FieldValue()
    everything, domains = squeeze(layout.text), _domains(layout)
    best = max(own, key=lambda candidate: candidate.score + _support(candidate.name, everything, domains))
    again = _support(best.name, everything, domains) >= NAMED_AGAIN
    return found(layout, best.name, best.cell, best.source, (Evidence.NAMED_AGAIN,) if again else ())


def _labelled(finder: Finder) -> Iterator[_Candidate]:
    for labelled in finder.at(SELLER):
        if not (labelled.leads or labelled.label.startswith(("payable", "titulaire", "in favo"))):
            continue
        if " " not in labelled.label and not _separated(labelled):
            continue  # "Lieferant GmbH" is a name that begins like a label
        names = [labelled.text] if labelled.place is not Place.BELOW else _below(finder, labelled)
        name = next((text for text in names if _is_name(text)), None)
        if name:
            yield _Candidate(_clean(name), labelled.cell, 3.6 - 0.5 * labelled.place, Source.TEXT_LABEL)


def _below(finder: Finder, labelled: Labelled) -> list[str]:
    """The name need not be the first line under its label: numbers and remarks come before it."""
    texts: list[str] = []
    for cell in finder.below(labelled.label_cell)[:4]:
        cells = finder.layout.rows[cell.row].cells
        right = cells[cells.index(cell) + 1 :]
        texts.append(right[0].text if right and NAME_LABEL.fullmatch(cell.folded) else cell.text)
    return texts


def _separated(labelled: Labelled) -> bool:
    after = labelled.label_cell.folded.partition(labelled.label)[2].strip()
    return labelled.label == "from" or not after or not after[0].isalnum()


def _senders(layout: Layout) -> Iterator[_Candidate]:
    """Yield names before the address in the one-line sender above a window: `Name - Street 1 - 12345 City`."""
    for cell in layout.cells[:25]:
        parts = re.split(r"\s+[-\u2013\u2022|\u00b7]\s+|\s*[\u2022|\u00b7]\s*", cell.text)
        if len(parts) >= 3 and _is_name(parts[0]) and re.search(r"\d{4,5}", parts[-1]):  # noqa: PLR2004  # name, street, city
            yield _Candidate(_clean(parts[0]), cell, 2.2, Source.TEXT_PATTERN)


def _names(layout: Layout) -> Iterator[_Candidate]:
    """Yield lines of the letterhead and the footer that can be a name."""
    first = True
    for cell in layout.cells:
        page = layout.pages[cell.page - 1]
        place = cell.top / page.height
        if cell.page > 1 or TOP < place < BOTTOM or not _is_name(cell.text):
            continue
        legal = bool(LEGAL_FORM.search(cell.folded))
        if place >= BOTTOM and not legal:
            continue
        size = min(1.0, max(0.0, cell.height / _text_height(layout) - 1))
        score = 0.4 + 1.3 * legal + 0.6 * size + 0.7 * first - 0.8 * place * (place < TOP)
        first = False
        yield _Candidate(_clean(cell.text), cell, score, Source.TEXT_PATTERN)


def _text_height(layout: Layout) -> float:
    heights = sorted(cell.height for cell in layout.cells)
    return heights[len(heights) // 2] or 1.0


def _is_name(text: str) -> bool:
    words = text.split()
    folded = fold(_clean(text))
    if (
        not folded
        or text in CURRENCIES
        or text.startswith("(")
        or len(words) > MAX_NAME_WORDS
        or len(text) > MAX_NAME_LENGTH
        or not re.search(r"[^\W\d_]{2}", text)
    ):
        return False
    if (
        NO_NAME.match(folded)
        or BUYER.match(folded)
        or SELLER.fullmatch(folded)
        or STREET.search(folded)
        or COUNTRY.fullmatch(folded)
    ):
        return False
    title = any(words.fullmatch(folded.rstrip(".")) for words in (INVOICE_TITLE, *LINE_COLUMNS)) or ":" in text
    spaced = all(len(word) == 1 for word in words)
    return not (
        title or spaced or "@" in text or next(find_dates(text), None) or any(a.exact for a in find_amounts(text))
    )


def _support(name: str, everything: str, domains: Sequence[str]) -> float:
    """Return what the rest of the page says for a name: an address on the net like it, other mentions of it."""
    squeezed = squeeze(name)
    stem = squeeze(LEGAL_FORM.sub("", name.lower())) or squeezed
    like = any(stem and (stem in domain or (len(domain) > 3 and domain in stem)) for domain in domains)  # noqa: PLR2004
    return 0.9 * like + 0.25 * min(3, everything.count(squeezed) - 1)


def _domains(layout: Layout) -> list[str]:
    names = DOMAIN.findall(layout.text.lower())
    return [squeeze(part) for name in names for part in name.split(".") if part not in FREE_MAIL]


def _block(finder: Finder, start: Cell) -> list[Cell]:
    """Return the lines under `start` in its column, down to a gap: an address, with labels and values or without."""
    layout = finder.layout
    cells = layout.rows[start.row].cells
    after = cells[cells.index(start) + 1 :]
    limit = after[0].left if after else start.left + COLUMN * layout.pages[start.page - 1].width
    lines: list[Cell] = []
    bottom = start.bottom
    for row in layout.rows[start.row + 1 :]:
        inside = [cell for cell in row.cells if start.left - start.height <= cell.left < limit - 1]
        if row.page != start.page or row.top - bottom > (GAP if lines else MAX_DROP) * start.height:
            break
        if inside:
            lines.extend(inside)
            bottom = max(cell.bottom for cell in inside)
        if len(lines) > MAX_BLOCK_CELLS:
            break
    return lines


def _clean(text: str) -> str:
    return re.sub(r"^[\s:;#*\-\u2013]+|[\s:;,*\-\u2013]+$", "", text)
