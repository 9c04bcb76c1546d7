"""Pictures of an invoice for the tests: drawn from a PDF, turned, and put into the files that scanners make."""

import io
import zlib
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image

from tests.invoices.documents import Line, make_pdf, pdf_bytes

INVOICE: list[Line] = [
    (60, 60, "Muster GmbH"),
    (60, 75, "Musterweg 1, 10115 Berlin"),
    (60, 200, "Rechnung"),
    (60, 230, "Rechnungsnummer: RE-2026-0815"),
    (60, 250, "Rechnungsdatum: 02.03.2026"),
    (60, 300, "Beschreibung"),
    (300, 300, "Menge"),
    (380, 300, "Einzelpreis"),
    (480, 300, "Betrag"),
    (60, 320, "Beratung im Februar"),
    (300, 320, "2"),
    (380, 320, "50,00"),
    (480, 320, "100,00"),
    (380, 360, "Nettobetrag"),
    (480, 360, "100,00"),
    (380, 380, "MwSt. 19 %"),
    (480, 380, "19,00"),
    (380, 400, "Gesamtbetrag"),
    (480, 400, "119,00 EUR"),
    (60, 500, "Bitte zahlen Sie auf das Konto IBAN DE02 1203 0000 0000 2020 51 bis zum 01.04.2026."),
]
PLAIN = pdf_bytes(make_pdf(INVOICE))
"""The invoice as a PDF with text: what the pictures of it must be read as."""


def draw(pdf: bytes = PLAIN, dots_per_inch: int = 150, page: int = 0) -> Image.Image:
    """Return a page of a PDF as a picture."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        picture: Image.Image = document[page].render(scale=dots_per_inch / 72).to_pil().convert("RGB")
    finally:
        document.close()
    return picture


def image_bytes(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Return the picture as a file of this kind."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def oriented(picture: Image.Image, orientation: int) -> bytes:
    """Return a JPEG that says in its EXIF how it must be turned."""
    exif = Image.Exif()
    exif[274] = orientation
    return image_bytes(picture, "JPEG", exif=exif, quality=90)


def from_an_angle(picture: Image.Image, shift: float = 0.06) -> Image.Image:
    """Return the picture as a camera above one of its corners sees it: that corner is the farthest."""
    width, height = picture.size
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    seen = [
        (shift * width, shift * height / 2),
        (width * (1 - shift / 3), 0),
        (width, height * (1 - shift / 3)),
        (0, height),
    ]
    rows = []
    for (x, y), (u, v) in zip(seen, corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    back = np.linalg.solve(np.array(rows), np.array(corners, float).ravel())
    bicubic = Image.Resampling.BICUBIC
    return picture.transform(picture.size, Image.Transform.PERSPECTIVE, back.tolist(), bicubic, fillcolor="white")


def png_that_claims(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims any size."""
    small = image_bytes(Image.new("L", (1, 1)))

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + small[24:29]
    return small[:16] + header + zlib.crc32(b"IHDR" + header).to_bytes(4, "big") + small[33:]
