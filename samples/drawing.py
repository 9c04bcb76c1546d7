"""Draw an invoice as a PDF with text: a page in one of three looks, in the fonts that every PDF program has."""

import datetime as dt
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pikepdf

from docrail.samples.bill import Bill, Line
from docrail.samples.vendors import Words

WIDTH, HEIGHT, LEFT, RIGHT = 595, 842, 56, 539
FONTS = {
    "letter": ("Helvetica", "Helvetica-Bold"),
    "band": ("Helvetica", "Helvetica-Bold"),
    "plain": ("Times-Roman", "Times-Bold"),
}
"""The usual and the bold font of each look."""
ROWS_A_PAGE = 26
COLUMNS = (LEFT, 350, 440, RIGHT)
CUSTOMER = ("Atelier Nord GmbH", "Rechnungseingang", "Hafenstraße 12", "24103 Kiel")
BLACK, GREY, WHITE = (0.1, 0.1, 0.1), (0.42, 0.42, 0.42), (1.0, 1.0, 1.0)

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Style:
    """How a text is printed."""

    size: float = 10
    bold: bool = False
    colour: Colour = BLACK
    right: bool = False
    """Whether it ends at its x."""


PLAIN, SMALL, STRONG = Style(), Style(8, colour=GREY), Style(bold=True)
ENDING, STRONG_ENDING = Style(right=True), Style(11, bold=True, right=True)


def draw(bill: Bill) -> bytes:
    """Return the invoice as a PDF; one with many lines has several pages."""
    pdf = pikepdf.new()
    fonts = fonts_in(pdf, FONTS[bill.vendor.look])
    parts = [bill.lines[at : at + ROWS_A_PAGE] for at in range(0, len(bill.lines), ROWS_A_PAGE)]
    for index, lines in enumerate(parts):
        add_page(pdf, fonts, _page(bill, lines, is_first=index == 0, is_last=index == len(parts) - 1))
    return saved(pdf)


def fonts_in(pdf: pikepdf.Pdf, names: tuple[str, str]) -> pikepdf.Dictionary:
    """Return the usual and the bold font for the pages of a PDF."""
    return pikepdf.Dictionary({f"/F{index}": pdf.make_indirect(_font(name)) for index, name in enumerate(names)})


def add_page(pdf: pikepdf.Pdf, fonts: pikepdf.Dictionary, operators: Iterable[str]) -> None:
    """Add a page with what the operators draw."""
    page = pdf.add_blank_page(page_size=(WIDTH, HEIGHT))
    page.Resources = pikepdf.Dictionary(Font=fonts)
    page.Contents = pdf.make_stream("\n".join(operators).encode("cp1252"))


def with_attachment(page: bytes, name: str, data: bytes) -> bytes:
    """Return the PDF with a file in it."""
    with pikepdf.open(io.BytesIO(page)) as pdf:
        pdf.attachments[name] = pikepdf.AttachedFileSpec(
            pdf, data, filename=name, description="", mime_type="text/xml", creation_date="", mod_date=""
        )
        return saved(pdf)


def saved(pdf: pikepdf.Pdf) -> bytes:
    """Return the bytes of a PDF, which are the same each time."""
    buffer = io.BytesIO()
    pdf.save(buffer, deterministic_id=True)
    return buffer.getvalue()


def _font(name: str) -> pikepdf.Dictionary:
    return pikepdf.Dictionary(
        Type=pikepdf.Name.Font,
        Subtype=pikepdf.Name.Type1,
        BaseFont=pikepdf.Name(f"/{name}"),
        Encoding=pikepdf.Name.WinAnsiEncoding,
    )


def _page(bill: Bill, lines: Sequence[Line], *, is_first: bool, is_last: bool) -> Iterator[str]:
    top = 60.0
    if is_first:
        yield from {"letter": _letter, "band": _band, "plain": _plain}[bill.vendor.look](bill)
        top = 300.0
    yield from _table(bill, lines, top)
    if is_last:
        yield from _totals(bill, top + 40 + 16 * len(lines))
        yield from _footer(bill)


def _letter(bill: Bill) -> Iterator[str]:
    vendor, words = bill.vendor, bill.vendor.words
    yield text(LEFT, 66, vendor.name, Style(18, bold=True, colour=vendor.colour))
    yield text(LEFT, 84, f"{vendor.street} · {vendor.town}", SMALL)
    yield rule(LEFT, RIGHT, 94, vendor.colour, 1.2)
    yield from _customer(138)
    yield text(LEFT, 240, words.title, Style(15, bold=True))
    for index, (label, value) in enumerate(_facts(bill)):
        yield text(350, 138 + 17 * index, label, Style(colour=GREY))
        yield text(RIGHT, 138 + 17 * index, value, ENDING)


def _band(bill: Bill) -> Iterator[str]:
    vendor, words = bill.vendor, bill.vendor.words
    yield _box(0, 0, WIDTH, 92, vendor.colour)
    yield text(LEFT, 48, vendor.name, Style(20, bold=True, colour=WHITE))
    yield text(LEFT, 68, f"{vendor.street}, {vendor.town}", Style(9, colour=WHITE))
    yield from _customer(130)
    yield text(LEFT, 218, words.title, Style(15, bold=True, colour=vendor.colour))
    for index, (label, value) in enumerate(_facts(bill)):
        yield text(LEFT + 165 * index, 244, label, SMALL)
        yield text(LEFT + 165 * index, 260, value, STRONG)


def _plain(bill: Bill) -> Iterator[str]:
    vendor, words = bill.vendor, bill.vendor.words
    yield text(LEFT, 62, vendor.name, Style(15, bold=True, colour=vendor.colour))
    yield text(LEFT, 78, vendor.street, PLAIN)
    yield text(LEFT, 91, vendor.town, PLAIN)
    yield from _customer(132)
    yield text(LEFT, 214, words.title, Style(14, bold=True))
    for index, (label, value) in enumerate(_facts(bill)):
        yield text(LEFT, 234 + 14 * index, f"{label}: {value}", PLAIN)


def _customer(top: float) -> Iterator[str]:
    for index, line in enumerate(CUSTOMER):
        yield text(LEFT, top + 14 * index, line, PLAIN)


def _facts(bill: Bill) -> list[tuple[str, str]]:
    words = bill.vendor.words
    found = [(words.number, bill.number), (words.date, _day(bill.date, words)), (words.due, _day(bill.due, words))]
    return [(label, value) for label, value in found if value]


def _table(bill: Bill, lines: Sequence[Line], top: float) -> Iterator[str]:
    vendor = bill.vendor
    description, *others = vendor.words.columns
    yield text(LEFT, top, description, Style(9, bold=True))
    for x, heading in zip(COLUMNS[1:], others, strict=True):
        yield text(x, top, heading, Style(9, bold=True, right=True))
    yield rule(LEFT, RIGHT, top + 6, vendor.colour, 0.8)
    for index, line in enumerate(lines):
        y = top + 22 + 16 * index
        yield text(LEFT, y, line.description, PLAIN)
        for x, value in zip(COLUMNS[1:], _cells(line, vendor.words), strict=True):
            yield text(x, y, value, ENDING)


def _cells(line: Line, words: Words) -> tuple[str, str, str]:
    return str(line.quantity), _amount(line.price, words), _amount(line.amount, words)


def _totals(bill: Bill, top: float) -> Iterator[str]:
    vendor, words = bill.vendor, bill.vendor.words
    rows = [(words.net, bill.net), (f"{words.tax} {vendor.tax_percent} %", bill.tax)] if vendor.tax_percent else []
    yield rule(350, RIGHT, top - 14, GREY, 0.4)
    for index, (label, value) in enumerate(rows):
        yield text(350, top + 16 * index, label, PLAIN)
        yield text(RIGHT, top + 16 * index, _amount(value, words), ENDING)
    y = top + 16 * len(rows) + 4
    yield text(350, y, words.total, Style(11, bold=True))
    yield text(RIGHT, y, f"{_amount(bill.total, words)} {vendor.currency}", STRONG_ENDING)


def _footer(bill: Bill) -> Iterator[str]:
    vendor = bill.vendor
    yield rule(LEFT, RIGHT, 770, GREY, 0.4)
    yield text(LEFT, 784, f"{vendor.name}, {vendor.street}, {vendor.town}", SMALL)
    if vendor.vat_id:
        yield text(LEFT, 796, f"{vendor.words.vat_id} {vendor.vat_id}", SMALL)
        yield text(320, 796, f"IBAN {_in_fours(vendor.iban)}", SMALL)


def _in_fours(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def _amount(value: Decimal, words: Words) -> str:
    whole, _, cents = f"{value:,.2f}".partition(".")
    return whole.replace(",", words.thousands) + words.decimal + cents


def _day(day: dt.date, words: Words) -> str:
    return day.strftime(words.day)


def text(x: float, y: float, words: str, style: Style) -> str:
    """Return the operators that print words with their left end, or their right end, at x."""
    left = x - _width(words, style) if style.right else x
    escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    font = f"/F{int(style.bold)} {style.size}"
    return f"BT {_ink(style.colour)} rg {font} Tf {left:.2f} {HEIGHT - y:.2f} Td ({escaped}) Tj ET"


def rule(left: float, right: float, y: float, colour: Colour, width: float) -> str:
    """Return the operators that draw a horizontal line."""
    return f"{_ink(colour)} RG {width} w {left} {HEIGHT - y:.2f} m {right} {HEIGHT - y:.2f} l S"


def _box(left: float, top: float, width: float, height: float, colour: Colour) -> str:
    return f"{_ink(colour)} rg {left} {HEIGHT - top - height:.2f} {width} {height} re f"


def _ink(colour: Colour) -> str:
    return " ".join(f"{part:.2f}" for part in colour)


def _width(text: str, style: Style) -> float:
    """Return the width in points: exact for amounts, a good guess for words."""
    return sum(_SHARES.get(letter, 0.72 if letter.isupper() else 0.53) for letter in text) * style.size


_SHARES = dict.fromkeys(".,: ", 0.278) | dict.fromkeys("0123456789", 0.556) | {"-": 0.333, "/": 0.278}
"""Widths in Helvetica, in sizes; Times is a little narrower."""
