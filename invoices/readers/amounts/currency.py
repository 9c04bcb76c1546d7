"""Find the currency of a document: at a label, at the total, at most amounts, or anywhere."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.amounts.money import Money, Role, role_of
from docrail.invoices.readers.amounts.sums import Totals
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.layout.places import found
from docrail.invoices.readers.layout.vocabulary import CURRENCY_LABEL, LINE_AMOUNT, LINE_PRICE
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.numbers import CODES, PREFIXED_DOLLARS, RINGGIT, SYMBOLS, currency_of, find_amounts

CODE = re.compile(r"(?<![A-Za-z])(?<!\d-)[A-Z]{3}(?![A-Za-z0-9]|-\d+(?![\d.,]))")
"""A currency code that is not part of a product code, as in `PEN-50`; `EUR-50.00` is an amount."""
GLUED = re.compile(r"(?<![A-Za-z])[A-Z]{3}-?\d+(?![\d.,])")
_SIGNS = [*PREFIXED_DOLLARS, *(symbol for symbol in SYMBOLS if not symbol.startswith("Rs"))]
SYMBOL = re.compile(
    "|".join(rf"(?<![A-Z]){re.escape(sign)}" if sign[0].isalpha() else re.escape(sign) for sign in _SIGNS)
)
RINGGIT_ALONE = re.compile(rf"^{RINGGIT}$|\({RINGGIT}\)")
"""Matches column headings."""
RAND = re.compile(r"-?R ?\d[\d ,]*[.,]\d\d")
"""South Africa's sign is a letter that begins many codes: it counts at the total only."""
AMERICA = re.compile(r"\b(?:USA|U\.S\.A|United States)\b")
EUROPEAN = re.compile(r"\b(?:IBAN|VAT|MwSt|TVA|BTW|IVA|GST)\b")
"""Terms that do not occur on invoices between American companies."""
CENTS = re.compile(r"[.,](?=\d\d(?!\d))")
COMMON = frozenset(CODES.split("|"))
WORDS_TOO = frozenset({"AED", "CAD", "INR", "TRY"})
"""Common codes that are also abbreviations, for drawings, tests and calls."""
IN = re.compile(r"\b(?:in|en|em)\s+\(?$", re.IGNORECASE)
SHOUTED_WORDS = 2
"""Most words of an all-capitals cell in which a code still stands out."""
DOLLARS = frozenset({"USD", "CAD", "AUD", "NZD", "HKD", "SGD", "MXN", "CLP", "COP", "ARS"})
"""Currencies that a bare dollar sign may mean; a code elsewhere in the document decides, or else COUNTRY_TERMS."""
AMERICAN_DOLLAR = "US$"
COUNTRY_TERMS = {
    "AUD": re.compile(r"\bA\.?[BC]\.?N\b"),
    "CAD": re.compile(r"\b(?:HST|QST)\b"),
    "NZD": re.compile(r"\bNZBN\b"),
    "SGD": re.compile(r"\bUEN\b"),
    "MXN": re.compile(r"\bRFC:? ?[A-ZÑ&]{3,4}-?\d{6}"),
    "CLP": re.compile(r"\bR\.?U\.?T\b\W{1,4}\d{1,2}\.\d{3}\.\d{3}-[\dKk]\b"),
    "COP": re.compile(r"\bNIT\W{1,3}\d{3}\.?\d{3}\.?\d{3}-\d\b"),
    "ARS": re.compile(r"\bC\.?U\.?I\.?T\b\W{1,4}\d{2}-?\d{8}-?\d\b"),
}
"""Registers and taxes of one country, which its companies print."""
PESOS = frozenset({"CLP", "COP", "ARS"})
"""Currencies of countries whose companies print their customers' tax numbers, as sellers abroad do too."""
GST_RATE = re.compile(r"\bGST\W{1,3}(\d+)(?:\.0+)? ?%|\b(\d+)(?:\.0+)? ?% GST\b")
GST_COUNTRIES = {"5": "CAD", "9": "SGD", "10": "AUD", "15": "NZD"}
"""The goods and services tax has another rate in each country whose dollars have the bare sign."""
MAX_LABEL_WORDS = 6
WRITTEN_OUT = {
    "EUR": re.compile(r"\beuros?\b"),
    "CHF": re.compile(r"\b(?:swiss francs|(?:schweizer )?franken|francs suisses|franchi svizzeri)\b"),
    "GBP": re.compile(r"\bpounds sterling\b"),
    "USD": re.compile(r"\bus dollars\b"),
}
"""Names of currencies, on folded text: `Total TTC en euros`."""


def find_currency(finder: Finder, amounts: Sequence[Money], totals: Totals) -> FieldValue[str]:
    """Return the most reliable currency; empty if none is named."""
    layout = finder.layout
    for source, named in _by_place(finder, amounts, totals):
        if named:
            best = Counter(code for code, _ in named).most_common(1)[0][0]
            cell = next(cell for code, cell in named if code == best)
            code, source = _which_dollar(best, source, layout.text)  # noqa: PLW2901
            return found(layout, code, cell, source)
    return FieldValue()


def _by_place(
    finder: Finder, amounts: Sequence[Money], totals: Totals
) -> Iterator[tuple[Source, list[tuple[str, Cell]]]]:
    """Yield the currencies that each kind of place names, the most reliable place first."""
    layout = finder.layout
    yield Source.TEXT_LABEL, [*_labelled(finder)]
    yield Source.TEXT_LABEL, [*_at_total_label(layout, totals)]
    yield Source.TEXT_LABEL, _at_amounts(amounts, totals)
    short = [cell for cell in layout.cells if not _is_sentence(cell)]
    yield Source.TEXT_PATTERN, [(code, cell) for cell in layout.cells for code in _codes(cell)]
    yield Source.TEXT_PATTERN, [(code, cell) for cell in short for code in _symbols(cell)]
    total = totals.total.cell if totals.total else None
    yield Source.TEXT_PATTERN, [("ZAR", total)] if total and RAND.fullmatch(total.text) else []
    if _is_american(layout, amounts):
        yield Source.TEXT_PATTERN, [("USD", cell) for cell in short if AMERICA.search(cell.text)]
    yield Source.TEXT_PATTERN, [(code, cell) for cell in layout.cells for code in _written_out(cell)]


def _labelled(finder: Finder) -> Iterator[tuple[str, Cell]]:
    for labelled in finder.at(CURRENCY_LABEL):
        code = CODE.search(labelled.text)
        if labelled.leads and code and code[0] in CURRENCIES and len(labelled.label_cell.words) <= MAX_LABEL_WORDS:
            yield code[0], labelled.cell


def _at_total_label(layout: Layout, totals: Totals) -> Iterator[tuple[str, Cell]]:
    """Yield the currency in the name of a total printed without one; other amounts may be in another currency."""
    total = totals.total.cell if totals.total else None
    if total is None or any(amount.currency for amount in find_amounts(total.text)):
        return
    for cell in layout.rows[total.row].cells:
        if cell.left < total.left and not _is_sentence(cell):
            yield from ((code, cell) for code in (*_codes(cell), *_written_out(cell)) if code in COMMON)


def _at_amounts(amounts: Sequence[Money], totals: Totals) -> list[tuple[str, Cell]]:
    """Return the currency at the total, if there is one; else all currencies at amounts with cents."""
    total = totals.total.cell if totals.total else None
    marked = [(money.currency, money.cell, money.value) for money in amounts if money.currency and not _is_code(money)]
    at_total = [(code, cell) for code, cell, _ in marked if cell is total]
    with_cents = [(code, cell) for code, cell, value in marked if value != value.to_integral() or value.as_tuple()[2]]
    return at_total or with_cents or [(code, cell) for code, cell, _ in marked if not _is_sentence(cell)]


def _is_code(money: Money) -> bool:
    """Return whether letters directly before whole digits are a product code: `RON95` is petrol."""
    return money.role is Role.OTHER and money.value == money.value.to_integral() and bool(GLUED.search(money.cell.text))


def _codes(cell: Cell) -> Iterator[str]:
    """Yield the currency codes in a cell, but not words as in `PLUG TOP 15 A` or `Mozzarella DOP 250 g`."""
    shouted = cell.text.isupper() and len(cell.words) > SHOUTED_WORDS
    for match in CODE.finditer(cell.text):
        common = match[0] in COMMON - WORDS_TOO
        if match[0] in CURRENCIES and (common or (not shouted and _is_of_money(cell, match))):
            yield match[0]


def _is_of_money(cell: Cell, code: re.Match[str]) -> bool:
    """Return whether a code is alone or with a number, follows an amount or `in`, or names a sum or a column."""
    before, after = code.string[: code.start()], code.string[code.end() :]
    alone = not re.search(r"[^\W\d_]", before + after)
    after_money = IN.search(before) or any(a.exact and not before[a.end :].strip() for a in find_amounts(before))
    named = any(name.search(cell.folded) for name in (CURRENCY_LABEL, LINE_AMOUNT, LINE_PRICE))
    named = named or role_of(cell.folded) not in (Role.OTHER, Role.NOT_A_SUM)
    return alone or bool(after_money) or (named and not _is_sentence(cell))


def _symbols(cell: Cell) -> Iterator[str]:
    yield from map(currency_of, SYMBOL.findall(cell.text))
    if RINGGIT_ALONE.search(cell.text):
        yield "MYR"


def _written_out(cell: Cell) -> Iterator[str]:
    return (code for code, words in WRITTEN_OUT.items() if words.search(cell.folded))


def _is_american(layout: Layout, amounts: Sequence[Money]) -> bool:
    """Return whether amounts use decimal points and nothing is European: many such invoices name no currency."""
    written = {cents for money in amounts if money.exact for cents in CENTS.findall(money.cell.text)}
    return written == {"."} and not EUROPEAN.search(layout.text)


def _is_sentence(cell: Cell) -> bool:
    return len(cell.words) > MAX_LABEL_WORDS


def _which_dollar(code: str, source: Source, text: str) -> tuple[str, Source]:
    """Return what a bare dollar sign means, which is read as USD, in a document with this text.

    Terms of a country are a weaker source than a code: they may be the customer's, whose tax number decides nothing
    if America is named.
    """
    named = {other for other in CODE.findall(text) if other in DOLLARS}
    if code != "USD" or named or AMERICAN_DOLLAR in text:
        return next(iter(named)) if code == "USD" and len(named) == 1 else code, source
    meant = {currency for currency, terms in COUNTRY_TERMS.items() if terms.search(text)}
    if meant and meant <= PESOS and AMERICA.search(text):
        return code, Source.TEXT_PATTERN
    meant = meant or {GST_COUNTRIES.get(before or after, code) for before, after in GST_RATE.findall(text)}
    return next(iter(meant)) if len(meant) == 1 else code, Source.TEXT_PATTERN if meant else source
