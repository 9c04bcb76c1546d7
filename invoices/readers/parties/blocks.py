"""Assign the lines of a page to the seller, the buyer or third parties."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.labels import LEAST_CAPTIONS, MAX_DROP, Finder, Labelled, Position
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.parties.names import (
    BETWEEN_PARTS,
    MAX_NAME_WORDS,
    POSTAL_CODE,
    before_address,
    clean,
    is_name,
)
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

MAX_BLOCK_CELLS = 16
"""Seven lines of an address, some with a label next to them."""
MAX_MENTIONS, MAX_BLOCK_LINES = 6, 8
"""Most mentions of the vendor's name examined, and most lines below each."""
COLUMN = 0.42
"""Width of a block with nothing to its right, as a share of the page's width."""
GAP = 1.4
"""A larger gap, in line heights, ends a block."""
TOP, BOTTOM = 0.33, 0.85
"""Shares of the page above which letterheads and address windows are, and below which the foot is."""
MAX_TO_CITY = 4
"""Most lines from the name in an address to its city."""
MAX_SENDER_ROWS, SENDER_PARTS = 25, 3
"""First rows in which a one-line sender may be, and its fewest parts: name, street and city."""
SMALL_WORDS = frozenset({"de", "da", "van", "von"})
"""Seller labels that count only above the seller's address."""
NARROW = 0.6
"""Share of the page's width: the sender line above an address window is narrower, a letterhead is wider."""
PHRASE = re.compile(r"\s+(?:&|et|and|und|e|y|en|of|de|du|di|von|van|for|pour|per|para|voor|avec|with|mit)\s")
"""After a word that starts a phrase, such as `Delivery and assembly`, and is not a label."""
ACCOUNT = re.compile(r"\b[a-z]{2}\d{2} ?[a-z0-9]{4} ?\d{4}")
SUMS = (Role.NET, Role.TOTAL)
CONTACT = re.compile(r"@|www\.|\b(?:tel|fax|fon|phone|mail|mob|gsm)")
"""At the start of a word: the digits after it are not an amount."""
NO_ADDRESS = re.compile(r"@|www\.|\b(?:tel|fax|fon|phone|mail|iban|ust|tva|vat|btw|siret|hrb)\b")


def buyer_cells(finder: Finder) -> list[Cell]:
    """Return the cells of all blocks that belong to the buyer, a recipient or a third party."""
    blocks = list(_labelled_blocks(finder))
    cells = [cell for block in blocks if not vocabulary.ATTENTION.match(block[0].folded) for cell in block]
    for _, sender in sender_lines(finder.layout):
        cells.extend(_addressed(finder, sender))
    cells.extend(_saluted(finder))
    if not cells:
        cells.extend(_for_attention(finder) or _second_address(finder))
    cells.extend(cell for block in blocks for cell in block)
    for labelled in finder.at(vocabulary.THIRD_PARTY):
        cells.extend([labelled.label_cell, *_block(finder, labelled.label_cell)])
    return cells


def find_buyer_name(finder: Finder) -> FieldValue[str]:
    """Return the name at the first buyer label that has one."""
    for labelled in finder.at(vocabulary.BUYER):
        if labelled.leads and is_name(labelled.text) and not heads_a_block(finder, labelled):
            return found(finder.layout, clean(labelled.text), labelled.cell, Source.TEXT_LABEL)
    in_window = (cell for _, sender in sender_lines(finder.layout) for cell in _addressed(finder, sender))
    name = next((cell for cell in chain(in_window, _saluted(finder)) if is_name(cell.text)), None)
    return FieldValue() if name is None else found(finder.layout, clean(name.text), name, Source.TEXT_PATTERN)


def seller_cells(finder: Finder, vendor: FieldValue[str], buyers: Sequence[Cell]) -> list[Cell]:
    """Return the cells that name the vendor, and the lines directly below them."""
    name = squeeze(vendor.value or "")
    named = [cell for cell in finder.layout.cells if name and name in squeeze(cell.text) and cell not in buyers]
    columns = ((start, *finder.below(start)[:MAX_BLOCK_LINES]) for start in named[:MAX_MENTIONS])
    return [cell for cells in chain(columns, _feet(finder.layout, named)) for cell in cells if cell not in buyers]


def _feet(layout: Layout, named: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of each page's foot, starting at its first row with a `named` cell."""
    low = [cell for cell in named if cell.top >= BOTTOM * layout.pages[cell.page - 1].height]
    first = {cell.page: cell.row for cell in reversed(low)}
    for page, number in first.items():
        yield [cell for row in layout.rows[number:] if row.page == page for cell in row.cells]


@lru_cache(maxsize=2)
def sender_lines(layout: Layout) -> tuple[tuple[str, Cell], ...]:
    """Return the one-line senders of the first page and their names: `Name - Street 1 - 12345 City`."""
    return tuple(_sender_lines(layout))


def _sender_lines(layout: Layout) -> Iterator[tuple[str, Cell]]:
    for row in layout.rows[:MAX_SENDER_ROWS]:
        if row.page > 1:
            return
        cells = [(cell.text, cell) for cell in row.cells]
        if len(BETWEEN_PARTS.split(row.cells[0].text)) < SENDER_PARTS:
            cells = [(row.text, row.cells[0])]  # wide separators split the line into cells
        for text, cell in cells:
            parts = BETWEEN_PARTS.split(text)
            places = (part for part in map(fold, parts[1:]) if not vocabulary.REGISTRATION.search(part))
            if len(parts) >= SENDER_PARTS and is_name(parts[0]) and any(map(_is_city, places)):
                yield clean(parts[0]), cell


def heads_a_block(finder: Finder, labelled: Labelled) -> bool:
    """Return whether a label heads an address that starts below it, so the text to its right is not its value."""
    cell = labelled.label_cell
    under = next(iter(finder.below(cell)), None)
    if labelled.place is not Position.RIGHT or under is None:
        return False
    close = max(abs(under.left - cell.left), under.top - cell.bottom) < cell.height
    return close and is_name(under.text)


def is_only_a_word(finder: Finder, labelled: Labelled) -> bool:
    """Return whether a short word such as `Von` is no seller label because no address in the head starts below it."""
    if labelled.label not in SMALL_WORDS:
        return False
    high = labelled.cell.top < TOP * finder.layout.pages[labelled.cell.page - 1].height
    return not (high and labelled.place is Position.BELOW and _address_from(finder, labelled.cell))


def _begins_a_phrase(labelled: Labelled) -> bool:
    return bool(PHRASE.match(labelled.label_cell.folded.partition(labelled.label)[2]))


def _labelled_blocks(finder: Finder) -> Iterator[list[Cell]]:
    """Yield the blocks at buyer labels, starting with the label or the first line."""
    for labelled in finder.at(vocabulary.BUYER):
        if labelled.leads and len(labelled.label_cell.words) <= MAX_NAME_WORDS and not _begins_a_phrase(labelled):
            start = labelled.label_cell if labelled.place is not Position.RIGHT else labelled.cell
            if labelled.place is Position.RIGHT and (heads_a_block(finder, labelled) or not is_name(labelled.text)):
                continue
            block = _block(finder, start)
            if not block and labelled.place is Position.BELOW and _address_from(finder, labelled.cell):
                block = [labelled.cell, *_block(finder, labelled.cell)]  # below the customer number
            yield [start, *block]


def _saluted(finder: Finder) -> list[Cell]:
    """Return the addresses in the head that start with a salutation on its own line.

    Empty if a label marks an address as the buyer's, because a salutation may then start the seller's.
    """
    if any(_is_city(line.folded) for block in _labelled_blocks(finder) for line in block[1:]):
        return []
    heads = (cell for cell in finder.layout.cells if vocabulary.SALUTATION.fullmatch(cell.folded) and cell.page == 1)
    blocks = (_block(finder, cell) for cell in heads if cell.top < TOP * finder.layout.pages[0].height)
    return [cell for block in blocks if any(_is_city(line.folded) for line in block) for cell in block]


def _for_attention(finder: Finder) -> list[Cell]:
    """Return the address in the head that has an attention line under its name; empty if there is none."""
    for cell in finder.layout.cells:
        if cell.page > 1 or cell.top > TOP * finder.layout.pages[0].height:
            break
        under = finder.below(cell)[:1]
        if under and vocabulary.ATTENTION.match(under[0].folded) and is_name(cell.text):
            return [cell, *_block(finder, cell)]
    return []


def _second_address(finder: Finder) -> list[Cell]:
    """Return the address below another one in a letter's head, since the sender's comes first; empty if there is none.

    For pages without a buyer label. An address with a seller label or in a sidebar is the sender's, wherever it is, and
    so is one with a phone or a tax number in it or in the next line.
    """
    sellers = (at for at in finder.at(vocabulary.SELLER) if at.leads and not is_only_a_word(finder, at))
    labelled = [at.cell for at in sellers if _address_from(finder, at.cell)]
    aside = [cell for row in finder.layout.rows if row.aside and row.page == 1 for cell in row.cells]
    own = [line for cell in labelled for line in (cell, *_block(finder, cell))]
    own += aside if any(_is_city(cell.folded) for cell in aside) else []
    end, seen = 0.0, bool(own)
    for row in finder.layout.rows[:MAX_SENDER_ROWS]:
        for cell in row.cells:
            if row.page > 1 or cell.top > TOP * finder.layout.pages[0].height:
                return []
            begins = cell.top >= end and cell not in own and not _is_of_the_invoice(cell, row)
            address = _address_from(finder, cell) if begins else []
            if not address:
                continue
            if seen:
                block = [cell, *_block(finder, cell)]
                return [] if any(NO_ADDRESS.search(line.folded) for line in (*address, *block[:2])) else block
            end, seen = address[-1].bottom, True
    return []


def _address_from(finder: Finder, cell: Cell) -> list[Cell]:
    """Return the lines from a name to its city, or a single line that has both; empty if it is not an address."""
    if before_address(cell.text) != cell.text:
        return [cell]
    block = [cell, *_block(finder, cell)] if is_name(cell.text) else []
    end = next((index for index, line in enumerate(block) if _is_city(line.folded)), len(block))
    return block[: end + 1] if end < min(len(block), MAX_TO_CITY + 1) else []


def _is_city(folded: str) -> bool:
    """Return whether a text has a postal code and a letter.

    Digits alone may be a phone number, a year or a till number; years in dates and groups of an account do not count.
    """
    other = next(find_dates(folded), None) or ACCOUNT.search(folded)
    return not other and bool(POSTAL_CODE.search(folded)) and any(letter.isalpha() for letter in folded)


def _addressed(finder: Finder, sender: Cell) -> list[Cell]:
    """Return the address below a sender line, as in an envelope's window; empty if it is not an address."""
    page = finder.layout.pages[sender.page - 1]
    if sender.right - sender.left > NARROW * page.width or sender.top > TOP * page.height:
        return []
    block = _block(finder, sender)
    plain = not any(NO_ADDRESS.search(cell.folded) for cell in block)
    return block if plain and any(POSTAL_CODE.search(cell.folded) for cell in block) else []


def _block(finder: Finder, start: Cell) -> list[Cell]:
    """Return the lines below `start` in its column up to a gap: an address, with or without labels."""
    layout = finder.layout
    cells = layout.rows[start.row].cells
    after = cells[cells.index(start) + 1 :]
    limit = after[0].left if after else start.left + COLUMN * layout.pages[start.page - 1].width
    lines: list[Cell] = []
    bottom = start.bottom
    for row in layout.rows[start.row + 1 :]:
        inside = [cell for cell in row.cells if start.left - start.height <= cell.left < limit - start.height / 2]
        if row.page != start.page or row.top - bottom > (GAP if lines else MAX_DROP) * start.height:
            break
        if any(_is_of_the_invoice(cell, row) or _is_the_sellers_label(cell) for cell in inside):
            break
        if _are_captions(row) and any(_is_city(line.folded) for line in lines):
            break
        if inside:
            lines.extend(inside)
            bottom = max(cell.bottom for cell in inside)
        if len(lines) > MAX_BLOCK_CELLS:
            break
    return lines


def _are_captions(row: Row) -> bool:
    """Return whether a row has only words, as over the boxes of a form: below a city, another part of it starts."""
    return len(row.cells) >= LEAST_CAPTIONS and not any(map(str.isdigit, row.text))


def _is_the_sellers_label(cell: Cell) -> bool:
    """Return whether a line is only a label of the seller, at which another block starts."""
    return vocabulary.SELLER.fullmatch(cell.folded.strip(" :")) is not None


def _is_of_the_invoice(cell: Cell, row: Row) -> bool:
    """Return whether a line is no longer part of an address: an amount, the name of a sum with one, or the title."""
    if vocabulary.INVOICE_TITLE.match(cell.folded) and not vocabulary.BUYER.match(cell.folded):
        return True
    last = row.cells[-1].text
    charged = any(amount.exact and amount.end == len(last) for amount in find_amounts(last))
    if not charged or CONTACT.search(cell.folded):
        return False
    return role_of(cell.folded) in SUMS or any(amount.exact for amount in find_amounts(cell.text))
