"""Payment QR codes for the tests, drawn on PDF pages as lines or as a picture, and on pictures."""

import io
from collections.abc import Sequence
from itertools import groupby

import pikepdf
import zxingcpp
from PIL import Image

from tests.invoices.documents import PAGE_HEIGHT, Line, make_pdf, pdf_bytes

EPC = "BCD\n002\n1\nSCT\nBFSWDE33BER\nMuster GmbH\nDE02120300000000202051\nEUR119.00\n\n\nRE-1\n"
SWISS = "\n".join(
    [
        *("SPC", "0200", "1", "CH4431999123000889012"),
        *("S", "Max Muster & Söhne", "Musterstrasse", "123", "8000", "Seldwyla", "CH"),
        *[""] * 7,
        *("1949.75", "CHF"),
        *("S", "Simon Muster", "Musterstrasse", "1", "8000", "Seldwyla", "CH"),
        *("QRR", "210000000003139471430009017", "Order of 15.06.2020", "EPD"),
        "//S1/10/10201409/11/200701/20/1400.000-53/30/106017086/31/180508/32/7.7/40/2:10;0:30",
    ]
)
"""The example of the Swiss Implementation Guidelines with Swico's example of billing information."""


def epc(**changes: str) -> str:
    """Return an EPC code's content; `changes` replaces values of EPC by name."""
    values = {"name": "Muster GmbH", "iban": "DE02120300000000202051", "amount": "EUR119.00", "text": "RE-1"} | changes
    return "BCD\n002\n1\nSCT\n\n{name}\n{iban}\n{amount}\n\n\n{text}".format(**values)


def modules(content: str | bytes) -> list[list[bool]]:
    """Return the code's dark modules, row by row."""
    code = zxingcpp.create_barcode(content, zxingcpp.BarcodeFormat.QRCode, ec_level="M", options="eci=UTF-8")
    picture = Image.fromarray(code.to_image(scale=1, add_quiet_zones=False))
    return [[picture.getpixel((x, y)) == 0 for x in range(picture.width)] for y in range(picture.height)]


def picture_of(content: str | bytes, module: int = 4, margin: int = 40) -> Image.Image:
    """Return the code on white, its modules `module` dots wide."""
    rows = modules(content)
    small = Image.new("L", (len(rows), len(rows)), 255)
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            if dark:
                small.putpixel((x, y), 0)
    large = small.resize((len(rows) * module, len(rows) * module), Image.Resampling.NEAREST)
    page = Image.new("L", (large.width + 2 * margin, large.height + 2 * margin), 255)
    page.paste(large, (margin, margin))
    return page


def png(picture: Image.Image) -> bytes:
    """Return the picture as a file."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def pdf_with_code(
    printed: Sequence[Line], *contents: str | bytes, millimetres: float = 46, as_picture: bool = False
) -> bytes:
    """Return a PDF with the lines, and the codes below each other at the bottom left."""
    pdf = make_pdf(printed)
    page = pdf.pages[0]
    side = millimetres * 72 / 25.4
    drawing = bytes(page.Contents.read_bytes())
    for number, content in enumerate(contents):
        left, bottom = 40.0, 40.0 + number * (side + 30)
        if as_picture:
            page.Resources.XObject = page.Resources.get("/XObject", pikepdf.Dictionary())
            page.Resources.XObject[f"/Q{number}"] = _image(pdf, content)
            drawing += f"\nq {side} 0 0 {side} {left} {bottom} cm /Q{number} Do Q".encode()
        else:
            drawing += b"\n" + _boxes(modules(content), left, bottom, side)
    page.Contents = pdf.make_stream(drawing)
    assert left + side < PAGE_HEIGHT
    return pdf_bytes(pdf)


def _boxes(rows: Sequence[Sequence[bool]], left: float, bottom: float, side: float) -> bytes:
    size = side / len(rows)
    boxes = []
    for y, row in enumerate(rows):
        x = 0
        for dark, run in groupby(row):
            width = len(list(run))
            if dark:
                top = bottom + side - (y + 1) * size
                boxes.append(f"{left + x * size:.3f} {top:.3f} {width * size:.3f} {size:.3f} re")
            x += width
    return "\n".join(["0 g", *boxes, "f"]).encode()


def _image(pdf: pikepdf.Pdf, content: str | bytes) -> pikepdf.Stream:
    picture = picture_of(content, module=1, margin=0)
    return pikepdf.Stream(
        pdf,
        picture.tobytes(),
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        Width=picture.width,
        Height=picture.height,
        ColorSpace=pikepdf.Name.DeviceGray,
        BitsPerComponent=8,
    )
