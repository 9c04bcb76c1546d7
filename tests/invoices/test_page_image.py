"""A page's picture is bounded, and shows each field inside its box."""

import datetime as dt
import io

import pytest
from PIL import Image

from docrail.invoices.model import Box
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.page_image import MOST_PIXELS, draw_page
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import make_pdf, pdf_bytes, ubl_invoice
from tests.invoices.pictures import INVOICE, draw

DARK = 128
EXIF_ORIENTATION, TURNED_LEFT = 274, 6


def drawn(data: bytes, number: int = 1) -> Image.Image:
    image = draw_page(data, number, 50)
    assert image is not None
    return Image.open(io.BytesIO(image))


def holds_all_ink(image: Image.Image, box: Box) -> bool:
    """Return whether there is ink in the box, and none right around it."""
    left, top, right, bottom = (round(edge * side) for edge, side in zip(box, (*image.size, *image.size), strict=True))
    grey = image.convert("L")
    inside, around = (
        sum(grey.crop((left - more, top - more, right + more, bottom + more)).histogram()[:DARK]) for more in (2, 6)
    )
    return 0 < inside == around


@pytest.mark.parametrize("cropped", [False, True])
@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_a_box_lies_on_the_picture_of_a_pdf_however_its_page_lies(rotate: int, *, cropped: bool) -> None:
    pdf = make_pdf([(60, 200, "X"), (300, 320, "8")], rotate=rotate)
    if cropped:
        pdf.pages[0].CropBox = [20, 30, 570, 800]
    data = pdf_bytes(pdf)
    (page,) = read_pages(PdfPages(data))
    assert len(page.words) == 2
    for word in page.words:
        assert holds_all_ink(drawn(data), page.as_sent(word.left, word.top, word.right, word.bottom))


@pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`")
def test_a_box_lies_on_the_picture_of_a_photo_as_its_exif_turns_it() -> None:
    photo, exif = draw(dots_per_inch=200).rotate(90, expand=True), Image.Exif()
    exif[EXIF_ORIENTATION] = TURNED_LEFT
    written = io.BytesIO()
    photo.save(written, "JPEG", exif=exif)
    data = written.getvalue()
    total = read_document(data, today=dt.date(2026, 4, 1)).total
    assert total.box is not None
    assert holds_all_ink(drawn(data), total.box)


def test_a_picture_is_no_larger_than_it_may_be() -> None:
    for data in (pdf_bytes(make_pdf(INVOICE)), png(4000, 6000), png(20_000, 30)):
        image = drawn(data)
        assert (image.format, image.width * image.height <= MOST_PIXELS) == ("PNG", True)


def test_a_missing_page_has_no_image() -> None:
    two = pdf_bytes(make_pdf(INVOICE, []))
    assert [draw_page(data, number, 50) is None for data, number in ((two, 2), (two, 3), (png(9, 9), 2))] == [
        *(False, True, True),
    ]
    assert draw_page(ubl_invoice(), 1, 50) is None
    assert [draw_page(png(*size), 1, 50) for size in ((1, 24_000_000), (24_000_000, 1))] == [None, None]  # lines


def test_an_unreadable_file_says_why() -> None:
    with pytest.raises(UnreadableDocument) as refused:
        draw_page(b"%PDF-1.7 nothing else", 1, 50)
    assert refused.value.code is Unreadable.DAMAGED


def png(width: int, height: int) -> bytes:
    written = io.BytesIO()
    Image.new("L", (width, height), "white").save(written, "PNG")
    return written.getvalue()
