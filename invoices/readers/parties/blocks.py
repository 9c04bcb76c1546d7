"""Assign the lines of a page to the seller, the buyer or third parties."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.labels import LEAST_CAPTIONS, MAX_DROP, Finder, Labelled, Position
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.parties.names import (
    BETWEEN_PARTS,
    END_OF_SENTENCE,
    MAX_NAME_WORDS,
    POSTAL_CODE,
    SLOGAN,
    aligned,
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
TOWARDS = frozenset({"to", "an", "a"})
"""Buyer labels that name the seller on a slip that is sent back with the payment."""
ROWS_OF_SLIP, LOWER = 3, 0.5
"""Rows between the title of such a slip and its address, and the share of the page above it."""
NUMBERED = re.compile(r"[ -](?:ref(?:erence)?|no|nr|number|id|code|account)(?![a-z])")
"""After a buyer label: it names a number, which may have an address below it."""
NARROW = 0.6
"""Share of the page's width: the sender line above an address window is narrower, a letterhead is wider."""
PHRASE = re.compile(r"\s+(?:&|et|and|und|e|y|en|of|de|du|di|von|van|for|pour|per|para|voor|avec|with|mit)\s")
"""After a word that starts a phrase, such as `Delivery and assembly`, and is not a label."""
ACCOUNT = re.compile(r"\b[a-z]{2}\d{2} ?[a-z0-9]{4} ?\d{4}")
SUMS = (Role.NET, Role.TOTAL)
SEAT = re.compile(
    r"registered (?:office|address)|sieges? socia|sede (?:legale|soc)|(?:domicilio|sede) social|\bsitz|zetel"
)
LETTERED = 1.3
"""Height of a name in a letterhead over that of the buyer's, at least."""
CONTACT = re.compile(r"@|www\.|\b(?:tel|fax|fon|phone|mail|mob|gsm)")
"""At the start of a word: the digits after it are not an amount."""
HOUSE = re.compile(r"[^\W\d_]{3}\W* \d{1,4}(?: ?[a-z])?(?: ?[-/] ?\d+)?$|^\d{1,4}(?: ?[a-z]|bis)?,? [a-z']{2,} ")
"""A street with its house number, after its name or before it; on folded text."""
CITY = re.compile(r"(?:[a-z]{1,2}-)?\d{4,5}(?: [a-z]{2})? [a-z]{2}|[a-z' .-]+[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}\b")
"""A postal code before a city, or a British one after it; on folded text."""
NO_ADDRESS = re.compile(r"@|www\.|\b(?:tel|fax|fon|phone|mail|iban|ust|tva|vat|btw|siret|hrb)\b")


def buyer_cells(finder: Finder) -> list[Cell]:
    """Return the cells of all blocks that belong to the buyer, a recipient or a third party."""
    blocks = list(_labelled_blocks(finder))
    cells = [cell for block in blocks if not vocabulary.ATTENTION.match(block[0].folded) for cell in block]
    for _, sender in sender_lines(finder.layout):
        cells.extend(_addressed(finder, sender))
    cells.extend(_saluted(finder))
    if not cells:
        cells.extend(_for_attention(finder) or _unlabelled_address(finder))
    cells.extend(cell for block in blocks for cell in block)
    for labelled in finder.at(vocabulary.THIRD_PARTY):
        cells.extend([labelled.label_cell, *_block(finder, labelled.label_cell)])
    return cells


def find_buyer_name(finder: Finder) -> FieldValue[str]:
    """Return the name at the first buyer label that has one."""
    for labelled in finder.at(vocabulary.BUYER):
        headed = heads_a_block(finder, labelled) or _is_on_a_slip(finder.layout, labelled)
        if labelled.leads and is_name(labelled.text) and not headed:
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
            whole = (row.text, row.cells[0])  # wide separators split the line into cells
            cells = [whole, *cells[:1]] if len(cells) > 1 else [whole]
        for text, cell in cells:
            if any(find_dates(text)):  # of a letter: `Lugano, 12.01.2026 - N. 20714`
                continue
            parts = BETWEEN_PARTS.split(text)
            places = (part for part in map(fold, parts[1:]) if not vocabulary.REGISTRATION.search(part))
            name = before_address(text)  # `Name, Street 1, 12345 City`
            if len(parts) >= SENDER_PARTS and is_name(parts[0]) and any(map(_is_city, places)):
                yield clean(parts[0]), cell
            elif name != cell.text == text and is_name(name) and not SLOGAN.search(name):
                yield clean(name), cell


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


def _is_on_a_slip(layout: Layout, labelled: Labelled) -> bool:
    """Return whether a short word such as `To` is below the title of a slip that goes back with the payment."""
    row = labelled.label_cell.row
    above = layout.rows[max(0, row - ROWS_OF_SLIP) : row] if labelled.label in TOWARDS else ()
    over = (each.cells[0] for each in above if len(each.cells) == 1)
    low = (cell for cell in over if cell.top > LOWER * layout.pages[cell.page - 1].height)
    return any(vocabulary.SLIP_TITLE.fullmatch(cell.folded.strip(" :")) for cell in low)


def _is_of_a_list(finder: Finder, labelled: Labelled) -> bool:
    """Return whether a label such as `Client reference` is in a list: its value is over that of the line below it."""
    cell = labelled.label_cell
    of_a_number = NUMBERED.fullmatch(cell.folded.partition(labelled.label)[2].rstrip(" .:"))
    lines = [cell, *finder.below(cell)[:1]] if of_a_number else []
    if any(_address_from(finder, line) for line in lines[1:]):
        return False
    rows = (finder.layout.rows[line.row].cells for line in lines)
    values = [right for row, line in zip(rows, lines, strict=True) for right in row[row.index(line) + 1 :][:1]]
    return len(values) > 1 and aligned(*values)


def _begins_a_phrase(labelled: Labelled) -> bool:
    return bool(PHRASE.match(labelled.label_cell.folded.partition(labelled.label)[2]))


def _labelled_blocks(finder: Finder) -> Iterator[list[Cell]]:
    """Yield the blocks at buyer labels, starting with the label or the first line."""
    for labelled in finder.at(vocabulary.BUYER):
        in_a_sentence = END_OF_SENTENCE.fullmatch(labelled.label_cell.text) or _begins_a_phrase(labelled)
        if _is_on_a_slip(finder.layout, labelled) or _is_of_a_list(finder, labelled):
            continue
        if labelled.leads and len(labelled.label_cell.words) <= MAX_NAME_WORDS and not in_a_sentence:
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


def _unlabelled_address(finder: Finder) -> list[Cell]:
    """Return the buyer's address in the head of a page without a buyer label; empty if nothing decides which it is.

    The sender's address comes first in a letter, is in a sidebar, at a seller label or in the foot, or has a phone
    number or a mail address. So the buyer's is the one below it or next to it, or the only one if the sender's is in
    the foot. Below another one, an address with a phone or a tax number is not the buyer's either.
    """
    own = _labelled_or_aside(finder)
    addresses = list(_addresses_in_head(finder, own))
    below = [each for each in addresses if own or each[0].top >= _bottom(addresses[0])]
    if below:
        return [] if _has_numbers(below[0]) else below[0]
    return _without_contact(addresses) if len(addresses) > 1 else _only_address(finder.layout, addresses)


def _labelled_or_aside(finder: Finder) -> list[Cell]:
    """Return the sender's addresses that a seller label or a sidebar marks as such."""
    sellers = (at for at in finder.at(vocabulary.SELLER) if at.leads and not is_only_a_word(finder, at))
    labelled = [at.cell for at in sellers if _address_from(finder, at.cell)]
    aside = [cell for row in finder.layout.rows if row.aside and row.page == 1 for cell in row.cells]
    own = [line for cell in labelled for line in (cell, *_block(finder, cell))]
    return own + (aside if any(_is_city(cell.folded) for cell in aside) else [])


def _addresses_in_head(finder: Finder, own: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the addresses in the head, each from its name on, without those in `own`.

    One next to another is only one if its lines are aligned: a logo is above the other's lines as well.
    """
    seen, end = list(own), 0.0
    for row in finder.layout.rows[:MAX_SENDER_ROWS]:
        for cell in row.cells:
            if row.page > 1 or cell.top > TOP * finder.layout.pages[0].height:
                return
            address = [] if cell in seen or _is_of_the_invoice(cell, row) else _address_from(finder, cell)
            if address and (cell.top >= end or all(abs(line.left - cell.left) < line.height for line in address)):
                block = [cell, *_block(finder, cell)]
                seen, end = [*seen, *address, *block], max(end, address[-1].bottom)
                yield block


def _bottom(block: Sequence[Cell]) -> float:
    """Return where the address of a block ends: at its city."""
    return next((line.bottom for line in block if _is_city(line.folded)), block[0].bottom)


def _has_numbers(block: Sequence[Cell]) -> bool:
    """Return whether a phone or tax number, or a mail address, is in an address or in the next line."""
    end = next((index for index, line in enumerate(block) if _is_city(line.folded)), 0)
    return any(NO_ADDRESS.search(line.folded) for line in block[: max(end + 1, 3)])


def _without_contact(addresses: Sequence[list[Cell]]) -> list[Cell]:
    """Return the one of two addresses side by side that has no phone or tax number, if the other has a phone number."""
    with_phone = [each for each in addresses if any(CONTACT.search(line.folded) for line in each)]
    plain = [each for each in addresses if not any(_is_a_senders(line) for line in each)]
    return plain[0] if len(addresses) == 2 and with_phone and len(plain) == 1 else []  # noqa: PLR2004


def _is_a_senders(line: Cell) -> bool:
    return bool(CONTACT.search(line.folded) or vocabulary.REGISTRATION.search(line.folded))


def _only_address(layout: Layout, addresses: Sequence[list[Cell]]) -> list[Cell]:
    """Return the only address in the head if the sender is elsewhere, without a name that the foot repeats.

    The sender's address is in the foot, or its name is in larger print above, with its contacts or its city. A seat in
    the foot may be the other address of the sender in the head.
    """
    if not addresses or len(addresses[0]) == 1 or _has_numbers(addresses[0]):
        return []
    foot = [cell for cell in layout.cells if cell.page == 1 and cell.top >= BOTTOM * layout.pages[0].height]
    if squeeze(addresses[0][0].text) in squeeze(" ".join(cell.text for cell in foot)):
        return []
    in_foot = any(_has_street_and_city(text) and not SEAT.search(text) for text in _texts(foot))
    return addresses[0] if in_foot or _is_below_a_letterhead(layout, addresses[0]) else []


def _is_below_a_letterhead(layout: Layout, address: Sequence[Cell]) -> bool:
    """Return whether an address is below a name in larger print that is unlike its own, with a contact or a city."""
    top, own = address[0].top, {*address[0].folded.split()}
    above = [cell for row in layout.rows[: address[0].row] for cell in row.cells if cell.bottom <= top]
    named = (cell for cell in above if cell.height > LETTERED * address[0].height and is_name(cell.text))
    unlike = any(not own & {*cell.folded.split()} for cell in named)
    return unlike and any(CONTACT.search(cell.folded) or _is_city(cell.folded) for cell in above)


def _texts(foot: Sequence[Cell]) -> Iterator[str]:
    """Yield the lines of a foot, each followed by the next one in its column, where an address may go on."""
    for cell in foot:
        under = next((other for other in foot if other.row > cell.row and other.shares_column(cell)), None)
        yield f"{cell.folded}, {under.folded}" if under else cell.folded


def _has_street_and_city(folded: str) -> bool:
    """Return whether a text has a street with its house number, and then a postal code with a city."""
    parts = [part for comma in folded.split(", ") for part in BETWEEN_PARTS.split(comma)]
    return any(HOUSE.search(street) and CITY.match(city) for street, city in pairwise(parts))


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
        inside = [cell for cell in row.cells if _is_in_column(cell, start, limit)]
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


def _is_in_column(cell: Cell, start: Cell, limit: float) -> bool:
    """Return whether a cell begins in the column of `start`, which ends at `limit`, or ends below it and is longer."""
    return start.left - start.height <= cell.left < limit - start.height / 2 or (
        abs(cell.right - start.right) < start.height / 2 and len(start.words) < len(cell.words)
    )


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
