"""Changes files in ways that readers may not expect: bytes, numbers in PDFs, objects in PDFs, elements in XML."""

import io
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pikepdf
from lxml import etree

from tests.invoices.documents import pdf_bytes

NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"255",
    b"65536",
    b"2147483647",
    b"-2147483648",
    b"4294967296",
    b"99999999999999999999",
    b"0.0001",
)
WORDS = (
    *("", " ", "0", "-0", "-1", "1e999", "NaN", "Infinity", "0.00", "99999999999999.99", "999999999999999999999"),
    *("1,234.56", "1.234,56", "١٢٣", "½", "²", "20260230", "2026-02-29", "00000000", "99999999", "2026-13-01T99:99"),
    *(
        "DE",
        "DE00",
        "DE02120300000000202051",
        "FR" + "0" * 40,
        "XX99" + "A" * 30,
        "EUR",
        "eur",
        "€",
        "XXX",
        "381",
        "384",
    ),
    *(
        "\u202egnp.exe",
        "ﬀ",
        "İ",
        "ß",
        "\U0001f4b6",
        "\ufdfa",
        "a\u0301" * 30,
        "x" * 5000,
        "<b>&amp;</b>",
        "'; DROP TABLE x; --",
    ),
)
Mutation = Callable[[bytes, Random], bytes]


def mutate(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Return `data`, changed one to four times."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = (
            random.choice(_fitting(data))(data, random)
            if random.random() < 0.9
            else _splice(data, random.choice(others), random)
        )
    return data


def _fitting(data: bytes) -> tuple[Mutation, ...]:
    if data.startswith(b"%PDF-"):
        return (_flip, _cut, _repeat, _number, _number, _objects, _objects, _objects, _truncate)
    if data.lstrip(b"\xef\xbb\xbf").startswith(b"<"):
        return (_flip, _cut, _elements, _elements, _elements, _elements, _truncate)
    return (_flip, _cut, _repeat, _truncate)


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 8, 64))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _part(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 4, 32, 256, 4096)))


def _cut(data: bytes, random: Random) -> bytes:
    start, end = _part(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, random: Random) -> bytes:
    start, end = _part(data, random)
    return data[:end] + data[start:end] * random.choice((1, 2, 50)) + data[end:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _splice(data: bytes, other: bytes, random: Random) -> bytes:
    start, end = _part(other, random)
    position = random.randrange(len(data) + 1)
    return data[:position] + other[start:end] + data[position:]


def _number(data: bytes, random: Random) -> bytes:
    """Replace a number that a PDF's syntax holds."""
    found = list(re.finditer(rb"(?<=[ \[/])-?\d+(?:\.\d+)?(?=[ \]\r\n/>])", data))
    if not found:
        return data
    match = random.choice(found)
    return data[: match.start()] + random.choice(NUMBERS) + data[match.end() :]


def _objects(data: bytes, random: Random) -> bytes:
    """Put something of another kind where a PDF's object has a key."""
    try:
        with pikepdf.open(io.BytesIO(data)) as pdf:
            _confuse(pdf, random)
            return pdf_bytes(pdf)
    except Exception:  # noqa: BLE001  # already too broken for pikepdf to change
        return data


def _confuse(pdf: pikepdf.Pdf, random: Random) -> None:
    holders: list[Any] = [item for item in pdf.objects if isinstance(item, pikepdf.Dictionary | pikepdf.Stream)]
    holder = random.choice([pdf.Root, pdf.pages[0].obj, *holders])
    for _ in range(random.randrange(4)):
        inner = [holder[key] for key in holder.keys() if isinstance(holder[key], pikepdf.Dictionary)]  # noqa: SIM118
        holder = random.choice(inner) if inner else holder
    keys = list(holder.keys())
    strange: list[Any] = [
        *(0, -1, 10**12, True, "text", b"\x00\xff", pikepdf.Name.Strange, pikepdf.Array([]), pikepdf.Dictionary()),
        *(pikepdf.Array([holder] if holder.is_indirect else [1, 2]), pikepdf.Dictionary(S=pikepdf.Name.JavaScript)),
        *(random.choice(holders), pdf.Root, pdf.make_stream(b"q Q" * random.randrange(9)), pdf.pages[0].obj),
    ]
    key = random.choice(
        [*keys, *keys, "/Next", "/Kids", "/AA", "/AF", "/Names", "/Resources", "/Contents", "/Filter", "/Rotate"]
    )
    if random.random() < 0.2 and key in keys:
        del holder[key]
    else:
        holder[key] = random.choice(strange)


def _elements(data: bytes, random: Random) -> bytes:
    """Remove, repeat, move, rename or fill an element."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError):
        return data
    elements = [element for element in root.iter() if isinstance(element.tag, str) and element is not root]
    if not elements:
        return data
    element, other = random.choice(elements), random.choice(elements)
    parent = element.getparent()
    match random.randrange(6):
        case 0 if parent is not None:
            parent.remove(element)
        case 1 if parent is not None:
            for _ in range(random.choice((1, 1, 30))):
                parent.append(etree.fromstring(etree.tostring(element)))
        case 2:
            element.tag = other.tag
        case 3 if element.attrib:
            element.set(random.choice(list(element.attrib)), random.choice(WORDS).replace("\x00", ""))
        case _:
            element.text = random.choice(WORDS)
    encoding = random.choice(("UTF-8", "UTF-16", "ISO-8859-1"))
    changed: bytes = etree.tostring(root, xml_declaration=True, encoding=encoding)
    return changed
