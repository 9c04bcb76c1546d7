"""Find payment QR codes on PDF pages and pictures, and read them with their pages and places."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import pypdfium2
import zxingcpp
from PIL import Image

from docrail.invoices.model import FIELD_NAMES, Box, FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.readers.codes.code_places import LEAST_SIDE, code_places
from docrail.invoices.readers.codes.payment_codes import BrokenCode, read_payment_code
from docrail.invoices.readers.layout.geometry import box_within
from docrail.invoices.readers.pdf.pages import PdfPages

DOTS_PER_POINT = 150 / 72
"""Measured: the densest Swiss code, 101 modules in 46 mm, is already readable at 120 dpi."""
QR_CODES = zxingcpp.BarcodeFormats([zxingcpp.BarcodeFormat.QRCode])
MAX_PIXELS = 8_000_000
FIRST_PAGES, LAST_PAGES = 4, 2
"""Pages searched at both ends of a long document, where payment codes are."""
LONGEST_CODE = 4096
"""Largest code in bytes; QR codes hold at most 2,953."""

Pixel = tuple[int, int]
"""Horizontal and vertical position."""


@dataclass(frozen=True, slots=True)
class Code:
    """A QR code with its contents and its place."""

    data: bytes
    text: str
    page: int
    box: Box


def codes_of_pdf(pdf: PdfPages) -> tuple[list[Code], tuple[InvoiceProblem, ...]]:
    """Return the QR codes on the pages that usually have payment codes, and a problem for pages that failed.

    Searches only the places where something like a code is drawn.
    """
    every = range(1, len(pdf) + 1)
    codes: list[Code] = []
    unsearched: list[int] = []
    for number in (*every[:FIRST_PAGES], *every[FIRST_PAGES:][-LAST_PAGES:]):
        try:
            with pdf.page(number) as page:
                codes += _codes_of_page(page, number)
        except pypdfium2.PdfiumError:  # skip a broken page; the others still count
            unsearched.append(number)
    return codes, (_not_searched(unsearched),) if unsearched else ()


def codes_of_picture(picture: Image.Image, page: int) -> list[Code]:
    """Return the QR codes in the picture of a page."""
    return list(_codes(_bounded(picture), page))


def read_codes(codes: Sequence[Code]) -> tuple[InvoiceData | None, tuple[InvoiceProblem, ...]]:
    """Return the reading of the payment codes among `codes`, None if there are none, and their problems.

    If several codes differ, as for instalments, only the fields they agree on are kept.
    """
    readings: list[InvoiceData] = []
    problems: list[InvoiceProblem] = []
    for code in codes:
        try:
            reading = read_payment_code(code.data, code.text)
        except BrokenCode as error:
            message = f"The payment code on page {code.page} is not valid: {error}. Do not scan it to pay."
            problems.append(InvoiceProblem.warning("payment_code_broken", message))
            continue
        readings += [_placed(reading, code)] if reading else []
    return (_common(readings) if readings else None), tuple(problems)


def _codes_of_page(page: pypdfium2.PdfPage, number: int) -> Iterator[Code]:
    """Yield the codes on a page. Raises: PdfiumError if something on it is broken."""
    width, height = page.get_size()
    scale = min(DOTS_PER_POINT, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    if min(width, height) * scale < LEAST_SIDE:
        return
    for place in code_places(page):
        crop = place.left, height - place.bottom, width - place.right, place.top
        with closing(page.render(scale=scale, crop=crop, grayscale=True)) as bitmap:
            corner = math.ceil(place.left * scale), math.ceil(place.top * scale)
            size = math.ceil(width * scale), math.ceil(height * scale)
            yield from _codes(bitmap.to_pil(), number, corner, size)


def _codes(picture: Image.Image, page: int, corner: Pixel = (0, 0), size: Pixel | None = None) -> Iterator[Code]:
    """Yield the codes in a picture, which may be the part at `corner` of a page of `size`."""
    (left, top), (width, height) = corner, size or picture.size
    for found in zxingcpp.read_barcodes(picture, formats=QR_CODES, try_downscale=False):
        corners = found.position
        points = (corners.top_left, corners.top_right, corners.bottom_left, corners.bottom_right)
        xs, ys = [(left + point.x) / width for point in points], [(top + point.y) / height for point in points]
        box = box_within(min(xs), min(ys), max(xs), max(ys))
        if len(found.bytes) <= LONGEST_CODE:
            yield Code(found.bytes, found.text, page, box)


def _bounded(picture: Image.Image) -> Image.Image:
    """Return the picture in grey, no larger than a rendered page."""
    grey = picture.convert("L")
    scale = (MAX_PIXELS / (grey.width * grey.height)) ** 0.5
    return grey if scale >= 1 else grey.resize((int(grey.width * scale) or 1, int(grey.height * scale) or 1))


def _placed(reading: InvoiceData, code: Code) -> InvoiceData:
    place = {"page": code.page, "box": code.box}
    fields = {name: getattr(reading, name) for name in FIELD_NAMES if getattr(reading, name).value is not None}
    return reading.model_copy(update={name: field.model_copy(update=place) for name, field in fields.items()})


def _common(readings: Sequence[InvoiceData]) -> InvoiceData:
    values = {name: {getattr(each, name).value for each in readings} for name in FIELD_NAMES}
    return readings[0].model_copy(update={name: FieldValue() for name in values if len(values[name]) > 1})


def _not_searched(pages: Sequence[int]) -> InvoiceProblem:
    message = f"Page {', '.join(map(str, pages))} is damaged and was not searched for payment codes. Check it yourself."
    return InvoiceProblem.warning("payment_codes_not_searched", message)
