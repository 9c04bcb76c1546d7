"""Collect the texts that may be the vendor's name: at labels, in one-line senders, in the letterhead and the foot."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from docrail.invoices.readers.layout.labels import Finder, Labelled, Position
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.vocabulary import IBAN_LABEL, PAYEE, REGISTRATION, SELLER
from docrail.invoices.readers.lines.charges import charged_rows
from docrail.invoices.readers.parties import names
from docrail.invoices.readers.parties.blocks import BOTTOM, GAP, TOP, heads_a_block, is_only_a_word, sender_lines
from docrail.invoices.readers.parties.broken_names import (
    GOES_ON_BELOW,
    LEAST_WHOLE,
    Print,
    legal_form_below,
    lines_below,
    print_of,
    rest_below,
)
from docrail.invoices.readers.parties.owners import SALES_LABEL, has_its_owner_below
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

NAME_LABEL = re.compile(
    r"\W*(?:name|firma|company(?: name)?|nom|naam|nombre|denominazione|(?:ragione|razon|raison) sociale?|"
    r"denominacion social|bedrijfsnaam|handelsnaam|firmenname)\s*(?::\s*|$)"
)
ROWS_OF_A_HEAD = 9
ADDRESS_LINES = 4
"""Most lines from a name to the postal code of its address."""
LARGER = 0.1
"""Relative extra height from which a line stands out."""
BANK = re.compile(r"bank\b|sparkasse|\b(?:banco|banque|banca|caisse|caja|cassa)\b")
"""Invoices state the bank of their account, some with its register details."""
MOST_END_WORDS = 3
"""Most words of a name on the next line, its legal form included."""
FORM_LAST = re.compile(rf"(?:{names.LEGAL_FORM.pattern})\W*$")
FIGURES = "0123456789 "
"""A name with register details may start with digits; elsewhere they are a street number."""
OF_AN_OWNER = re.compile(r"\w di [A-Z]\w+ [A-Z]\w+$")
"""The end of an Italian name, `Fotografia Zenith di Maria Rossi`, or of an office: `Foro di Reggio Emilia`."""
PERSONS_NUMBER = re.compile(r"\b[a-z]{6}\d\d[a-z]\d\d[a-z]\d{3}[a-z]\b")
"""The tax number of a person in Italy; that of a company has only digits. On folded text."""
LOGO = 2
"""Names of up to this many letters are more likely read from a logo than registered."""


class NameAt(Enum):
    """What made a text a candidate for the name."""

    SELLER_LABEL = "seller label"
    PAYEE_LABEL = "payee label"
    SENDER_LINE = "one-line sender"
    LINE = "line of the letterhead or foot"


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A text that may be the vendor's name, with what counts for and against it in VENDOR_NAME."""

    name: str
    cell: Cell
    basis: NameAt
    legal: bool = False
    """Whether it has a legal form; at a label that says nothing."""
    size: float = 0.0
    """Height above the usual one, as a share of it, at most 1."""
    first: bool = False
    registered: bool = False
    stated: bool = False
    """Whether the register details are in its own line, or in the foot."""
    depth: float = 0.0
    """Position in the head, as a share of the page's height."""
    on_the_net: bool = False
    is_a_domain: bool = False
    """Whether a domain is the whole name, as that of a brand often is."""
    mentions: int = 0
    passed_over: bool = False
    """Whether it is a plain line over a company's name and address, or register details are at a name in its column."""

    @property
    def is_the_issuer(self) -> bool:
        """Whether it is a company that states its register details as issuers must, with its name or in the foot."""
        return self.stated and self.legal and self.registered and not self.is_a_bank

    @property
    def is_a_company(self) -> bool:
        """Whether it has a legal form and is no bank."""
        return self.legal and not self.is_a_bank

    @property
    def has_form_at_an_end(self) -> bool:
        """Whether its name begins or ends with its legal form."""
        form = names.legal_form(fold(self.name))
        return form is not None and (form.start() == 0 or FORM_LAST.search(fold(self.name)) is not None)

    @property
    def is_a_bank(self) -> bool:
        """Whether it is the bank of an account."""
        return bool(BANK.search(fold(self.name)))

    @property
    def is_plain(self) -> bool:
        """Whether it is a line without a legal form and register details."""
        return self.basis is NameAt.LINE and not (self.legal or self.registered)


def vendor_names(finder: Finder, buyers: Sequence[Cell]) -> list[NameCandidate]:
    """Return the texts that may be the vendor's name; the buyers' are left out."""
    layout = finder.layout
    buyer_names = {squeeze(cell.text) for cell in buyers}
    everything, on_the_net = squeeze(layout.text), names.domains(layout)
    candidates = [*_labelled(finder), *_senders(layout), *_with_first(list(_names(layout, on_the_net)))]
    others = {id(cell) for cell in _salespeople(finder)}
    others |= {id(cell) for row in charged_rows(layout).values() for cell in row.cells}
    candidates = [c for c in candidates if c.is_the_issuer or id(c.cell) not in others]
    own = [c for c in candidates if c.cell not in buyers and squeeze(c.name) not in buyer_names]
    own = [c for c in own if not _keeps_an_account(layout, c, on_the_net)]
    brands = [squeeze(c.name) for c in own if c.first and squeeze(c.name) in on_the_net]
    own = [c for c in own if c.stated or c.basis is not NameAt.LINE or not _has_its_own_domain(finder, c, brands)]
    registered = [c.cell for c in own if c.registered and not c.is_a_bank]
    companies = [c.cell for c in own if c.is_a_company and is_addressed(layout, c.cell)]
    every = [
        replace(
            c,
            on_the_net=names.is_on_the_net(c.name, on_the_net),
            is_a_domain=squeeze(c.name) in on_the_net,
            mentions=_mentions(everything, squeeze(c.name)),
            passed_over=c.is_plain and _is_brand_of(layout, c.cell, companies, registered),
        )
        for c in own
    ]
    supported = [c for c in every if _is_supported(layout, c)]
    return supported or [c for c in every if c.first]


def _is_brand_of(layout: Layout, brand: Cell, companies: Sequence[Cell], registered: Sequence[Cell]) -> bool:
    """Return whether a line is the brand of a company directly below it, or of a registered one in its column."""
    below = any(under is company for under in lines_below(layout, brand) for company in companies)
    return below or any(cell.shares_column(brand) for cell in registered)


def _keeps_an_account(layout: Layout, candidate: NameCandidate, on_the_net: Sequence[str]) -> bool:
    """Return whether a name is that of the bank of an account.

    It is neither the first line nor like a domain of the page, or an IBAN is in the next rows.
    """
    if not candidate.is_a_bank or candidate.basis in (NameAt.SELLER_LABEL, NameAt.PAYEE_LABEL):
        return False
    bank = candidate.cell
    near = (cell for row in layout.rows[bank.row + 1 : bank.row + 3] for cell in row.cells if cell.shares_column(bank))
    own = candidate.first or names.is_on_the_net(candidate.name, on_the_net)
    return not own or (not candidate.depth and any(IBAN_LABEL.search(cell.folded) for cell in near))


def domains_below(finder: Finder, cell: Cell) -> list[str]:
    """Return the parts of the web and mail domains in the address below a name."""
    return names.domains_in(" ".join(line.text for line in finder.below(cell)[: ADDRESS_LINES + 2]))


def _has_its_own_domain(finder: Finder, candidate: NameCandidate, brands: Sequence[str]) -> bool:
    """Return whether the domain in a name's address is like it, and not the brand of the first line: the customer's."""
    own = domains_below(finder, candidate.cell) if brands and not candidate.first else []
    return names.is_on_the_net(candidate.name, own) and not any(brand in own for brand in brands)


def _mentions(text: str, short: str) -> int:
    """Return how often a name is printed again; the letters of a logo are also parts of words."""
    return min(names.MAX_MENTIONS, max(0, text.count(short) - 1)) if len(short) > LOGO else 0


def _is_supported(layout: Layout, candidate: NameCandidate) -> bool:
    """Return whether something shows that a line is a name: a slogan or a remark has no form, address or size."""
    known = candidate.on_the_net or candidate.mentions > 0 or candidate.size >= LARGER
    return known or not candidate.is_plain or is_addressed(layout, candidate.cell)


def is_addressed(layout: Layout, cell: Cell) -> bool:
    """Return whether a postal code is in a cell or a few lines below it, in its column."""
    near = (other for row in layout.rows[cell.row : cell.row + 1 + ADDRESS_LINES] for other in row.cells)
    below = [other for other in near if other.page == cell.page and other.shares_column(cell)]
    return any(names.POSTAL_CODE.search(o.folded) and next(find_dates(o.text), None) is None for o in below)


def _salespeople(finder: Finder) -> Iterator[Cell]:
    """Yield the cells at labels of the seller that name a salesperson: without a legal form and an address."""
    for labelled in finder.at(SELLER):
        person = SALES_LABEL.fullmatch(labelled.label) and not names.legal_form(fold(labelled.text))
        if person and not is_addressed(finder.layout, labelled.cell):
            yield labelled.cell


def _labelled(finder: Finder) -> Iterator[NameCandidate]:
    for label, basis in ((SELLER, NameAt.SELLER_LABEL), (PAYEE, NameAt.PAYEE_LABEL)):
        for labelled in finder.at(label):
            if (label is SELLER and not labelled.leads) or heads_a_block(finder, labelled):
                continue
            text = names.before_remark(labelled.text + _end_of_name_below(finder, labelled), names.SENTENCE_AFTER)
            known = " " in labelled.label or (not labelled.label.isalpha() and names.legal_form(fold(text)))
            if is_only_a_word(finder, labelled) or not (known or _separated(labelled)):
                continue  # "Lieferant GmbH" is a name that starts like a label; an abbreviation is none
            cells = _below(finder, labelled) if labelled.place is Position.BELOW else [(text, labelled.cell)]
            fitting = [(text, cell) for text, cell in cells if names.is_name(text)]
            if fitting:
                text, cell = next((each for each in fitting[:2] if names.legal_form(fold(each[0]))), fitting[0])
                yield NameCandidate(names.clean(text), cell, basis)


def _below(finder: Finder, labelled: Labelled) -> list[tuple[str, Cell]]:
    """Return the texts below a label: numbers and remarks may precede the name."""
    texts: list[tuple[str, Cell]] = []
    for cell in finder.below(labelled.label_cell)[:4]:
        cells = finder.layout.rows[cell.row].cells
        right = cells[cells.index(cell) + 1 :]
        own = NAME_LABEL.match(cell.folded)
        text = cell.text[own.end() if own else 0 :]
        if own and right and not text:
            text, cell = right[0].text, right[0]  # noqa: PLW2901
        texts.append((text + _rest_in_box(finder, cell) if own else text, cell))
    return texts


def _rest_in_box(finder: Finder, cell: Cell) -> str:
    """Return the end of a labelled name, if the line below it has its legal form and no label; else an empty string."""
    under = finder.below(cell)[:1] if not names.legal_form(cell.folded) else []
    return "".join(f" {end.text}" for end in under if names.legal_form(end.folded) and ":" not in end.text)


def _end_of_name_below(finder: Finder, labelled: Labelled) -> str:
    """Return the end of a name up to its legal form, if the next line of its sentence has it; else an empty string."""
    under = finder.below(labelled.cell)[:1] if GOES_ON_BELOW.search(fold(labelled.text)) else []
    ends = [line.text[: form.end()] for line in under if (form := names.legal_form(line.folded))]
    return "".join(f" {end}" for end in ends if len(end.split()) <= MOST_END_WORDS and not BANK.search(fold(end)))


def _separated(labelled: Labelled) -> bool:
    """Return whether a label ends before what follows: not `Lieferant GmbH`, nor `from the date of purchase`."""
    cell = labelled.label_cell
    after = cell.text[cell.folded.find(labelled.label) + len(labelled.label) :].strip()
    return not after[:1].islower() if labelled.label == "from" else not after[:1].isalnum()


def _senders(layout: Layout) -> Iterator[NameCandidate]:
    for name, cell in sender_lines(layout):
        yield NameCandidate(name, cell, NameAt.SENDER_LINE, legal=bool(names.legal_form(fold(name))))


def _names(layout: Layout, on_the_net: Collection[str]) -> Iterator[NameCandidate]:
    """Yield lines of the letterhead and the footer that can be names.

    Elsewhere a name counts only with register details, as part of a web address, or if it spells out a name above.
    """
    above: tuple[str, ...] = ()
    known_print = print_of(layout)
    for cell, printed, own_entry in _printed_names(layout, known_print):
        place = cell.top / layout.pages[0].height if cell.page == 1 else 1.0
        owned = place < TOP and has_its_owner_below(layout, cell)
        bare = printed.lstrip(FIGURES) if own_entry or FORM_LAST.search(cell.folded) else printed
        if not (owned or names.is_name(bare)):
            continue
        name = printed + legal_form_below(layout, cell, printed)
        short = squeeze(name)
        legal = bool(names.legal_form(fold(name)) or names.STATUS.search(cell.folded))
        registered = own_entry or (len(short) > LOGO and _is_registered_below(layout, cell))
        known = registered or owned or short in on_the_net
        if place >= TOP and not (known or (legal and (place >= BOTTOM or short.startswith(above)))):
            continue
        size = min(1.0, max(0.0, cell.height / known_print.usual - 1))
        above = (*above, short) if len(short) > LOGO else above
        depth = place if place < TOP else 0.0
        yield NameCandidate(
            *(names.clean(name), cell, NameAt.LINE, legal, size),
            registered=registered or owned,
            stated=own_entry or place >= TOP,
            depth=depth,
        )


def _with_first(lines: Sequence[NameCandidate]) -> Iterator[NameCandidate]:
    """Mark the first line; of two companies with register details in boxes side by side, the left one."""
    companies = [line for line in lines if line.legal and line.registered and line.cell.page == 1]
    level = [line for line in companies if line.cell.top < lines[0].cell.bottom]
    first = min(level if level[:1] == lines[:1] else lines[:1], key=lambda line: line.cell.left, default=None)
    yield from (replace(line, first=line is first) for line in lines)


def _printed_names(layout: Layout, known: Print) -> Iterator[tuple[Cell, str, bool]]:
    """Yield cells that may contain names, with the name and whether register details follow it.

    Covers the first page, and names with register details in the foot of the last page.
    """
    rests: list[Cell] = []
    for cell in layout.cells:
        if cell.page > 1:
            in_foot = cell.page == len(layout.pages) and cell.top >= BOTTOM * layout.pages[-1].height
            if in_foot and (short := names.before_register(cell.text)) != cell.text:
                yield cell, short, True
            continue
        low = cell.top >= TOP * layout.pages[0].height
        brand = _brand_above(layout, cell)
        below = lines_below(layout, cell) if low and len(cell.words) > names.LEAST_SPACES else iter(())
        if (low or brand) and (owned := names.owner_of_name(cell.text, brand, next((o.text for o in below), ""))):
            if _is_in_head(layout, owned[0]):
                yield cell, owned[1], True
            continue
        name, own_entry = names.REGISTER_ENTRY.subn("", names.before_address(cell.text))
        if (short := names.before_register(cell.text)) != cell.text:
            name, own_entry = short, 1
        if status := names.STATUS.search(cell.folded):
            name, own_entry = cell.text[: status.start()], 1
        own_entry = own_entry or (low and _is_followed_by_register(layout, cell))
        name = names.before_remark(name)
        if cell in rests or names.is_legal_form(cell) or _ends_a_partners_name(layout, cell):
            continue
        rest = rest_below(layout, cell, known)
        rests += rest
        yield cell, " ".join([name, *(each.text for each in rest)]), bool(own_entry)


def _ends_a_partners_name(layout: Layout, cell: Cell) -> bool:
    """Return whether a line such as `Verwaltungs GmbH` ends the name of the partner who is liable for the company."""
    above = layout.rows[cell.row - 1].cells if cell.row and names.OF_A_PARTNER.match(cell.folded) else ()
    over = [other for other in above if other.page == cell.page and names.aligned(other, cell)]
    return any(names.PARTNER.search(other.folded) and not names.legal_form(other.folded) for other in over)


def _brand_above(layout: Layout, cell: Cell) -> str:
    """Return the name in the head that a line in lowercase or with a phrase goes on; an empty string if none."""
    if cell.top >= TOP * layout.pages[0].height or not (cell.text[0].islower() or names.OWNED_BY.match(cell.folded)):
        return ""
    above = (other for row in layout.rows[max(0, cell.row - 1) : cell.row] for other in row.cells)
    return next((other.text for other in above if names.aligned(other, cell)), "")


def _is_followed_by_register(layout: Layout, cell: Cell) -> bool:
    """Return whether the cell to the right has register details: a foot is often set in columns.

    At the name of an owner they include a person's tax number, which may be below them.
    """
    cells = layout.rows[cell.row].cells
    after = cells[cells.index(cell) + 1 :][:1]
    named = names.has_legal_form(cell)
    if not named and OF_AN_OWNER.search(cell.text):
        details = (detail for other in after for detail in (other, *lines_below(layout, other)))
        named = any(PERSONS_NUMBER.search(detail.folded) for detail in details)
    return named and any(REGISTRATION.search(other.folded) for other in after)


def _is_in_head(layout: Layout, name: str) -> bool:
    """Return whether a name is in the letterhead: invoices also state the trading names of payment services."""
    heads = (cell for row in layout.rows[:ROWS_OF_A_HEAD] if row.page == 1 for cell in row.cells)
    printed = [squeeze(cell.text) for cell in heads if cell.top < TOP * layout.pages[0].height]
    called = [squeeze(names.of_domain(part)) for part in name.split(" and ")]
    return any(
        part in text or (len(text) >= LEAST_WHOLE and part.startswith(text)) for part in called for text in printed
    )


def _ends_in_amount(row: Row) -> bool:
    """Return whether the row ends in an amount: it is a line item or a sum, even if it names a tax."""
    last = row.cells[-1]
    return len(row.cells) > 1 and any(amount.exact for amount in find_amounts(last.text))


def _is_registered_below(layout: Layout, cell: Cell) -> bool:
    """Return whether register details or tax numbers are below a name in its column, with its address."""
    legal = bool(names.legal_form(cell.folded))
    bottom, addressed, registered = cell.bottom, legal, False
    for row in layout.rows[cell.row + 1 : cell.row + 1 + ROWS_OF_A_HEAD]:
        if row.page != cell.page or row.top - bottom > GAP * cell.height or _ends_in_amount(row):
            break
        under = [other for other in row.cells if other.shares_column(cell)]
        if not legal and any(_names_another(other, cell) or _is_identified(layout, other) for other in under):
            break  # they belong to that name
        addressed = addressed or any(names.POSTAL_CODE.search(other.folded) for other in under)
        registered = registered or any(REGISTRATION.search(other.folded) for other in under)
        bottom = max((other.bottom for other in under), default=bottom)
    return addressed and registered


def _is_identified(layout: Layout, cell: Cell) -> bool:
    """Return whether register details begin the line below the name of a person, rather than of what they do."""
    named = names.is_name(cell.text) and not names.SLOGAN.search(cell.text) and cell.text.replace(" ", "").isalpha()
    return named and any(REGISTRATION.match(under.folded) for under in lines_below(layout, cell))


def _names_another(cell: Cell, above: Cell) -> bool:
    """Return whether a line has a name with its legal form, in large print or with its address."""
    known = names.has_legal_form(cell) or cell.height > (1 + names.OF_A_LOGO) * above.height
    return (known and names.is_name(cell.text)) or names.before_address(cell.text) != cell.text
