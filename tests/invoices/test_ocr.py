"""Pictures of an invoice are read as the invoice itself is, however they lie and in whatever file they come."""

import datetime as dt
import io
from collections.abc import Callable
from decimal import Decimal

import pikepdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageFilter import GaussianBlur

from docrail.invoices.facts import Source
from docrail.invoices.model import FIELD_NAMES, FieldValue, InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.pictures import INVOICE, PLAIN, draw, from_an_angle, image_bytes, oriented, png_that_claims

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`")]
TODAY = dt.date(2026, 11, 1)
NEAR = 0.02
"""Of the page: a third of a line's distance to the next."""


def read(data: bytes, max_pages: int = 50) -> InvoiceData:
    return read_document(data, today=TODAY, max_pages=max_pages)


def values(invoice: InvoiceData) -> dict[str, object]:
    names = ("invoice_number", "date", "due_date", "vendor_name", "iban", "currency", "net", "tax", "total")
    return {name: getattr(invoice, name).value for name in names}


def box_of(field: FieldValue[Decimal]) -> tuple[float, float, float, float]:
    assert field.box is not None
    return field.box


def near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(abs(a - b) <= NEAR for a, b in zip(one, other, strict=True))


def turned_box(box: tuple[float, float, float, float], degrees: int) -> tuple[float, float, float, float]:
    """Return where a box comes to lie when its page is turned counterclockwise."""
    left, top, right, bottom = box
    match degrees:
        case 90:
            return top, 1 - right, bottom, 1 - left
        case 180:
            return 1 - right, 1 - bottom, 1 - left, 1 - top
        case 270:
            return 1 - bottom, left, 1 - top, right
        case _:
            return box


def scanned_pdf(picture: Image.Image) -> bytes:
    return image_bytes(picture, "PDF", resolution=150)


def test_a_picture_says_what_the_text_says() -> None:
    seen, expected = read(image_bytes(draw())), read(PLAIN)
    assert values(seen) == values(expected)
    assert (seen.total.value, seen.invoice_number.value) == (Decimal("119.00"), "RE-2026-0815")
    assert (seen.reader, expected.reader) == ("ocr", "text")


def test_recognized_words_have_confidence_and_box() -> None:
    seen, expected = read(image_bytes(draw())), read(PLAIN)
    assert seen.total.source is Source.OCR_LABEL
    assert seen.total.word_score is not None
    assert 0.9 < seen.total.word_score <= 1
    assert near(box_of(seen.total), box_of(expected.total))


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_may_lie_on_any_side(degrees: int) -> None:
    seen, expected = read(image_bytes(draw().rotate(degrees, expand=True))), read(PLAIN)
    assert values(seen) == values(expected)
    assert near(box_of(seen.total), turned_box(box_of(expected.total), degrees))


@pytest.mark.parametrize("degrees", [-15.0, -7.0, 3.0, 12.0, 97.0])
def test_a_page_may_be_tilted(degrees: float) -> None:
    tilted = draw().rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    assert values(read(image_bytes(tilted))) == values(read(PLAIN))


def test_a_page_may_be_seen_at_an_angle() -> None:
    seen, expected = read(image_bytes(from_an_angle(draw()))), read(PLAIN)
    assert values(seen) == values(expected)


@pytest.mark.parametrize("spoil", [lambda page: page.resize((182, 257)), lambda page: page.filter(GaussianBlur(5))])
def test_a_picture_too_poor_to_read_is_reported_and_nothing_in_it_is_confident(
    spoil: Callable[[Image.Image], Image.Image],
) -> None:
    seen = read(image_bytes(spoil(draw())))
    assert "poor_image" in {problem.code for problem in seen.problems}
    assert [name for name in FIELD_NAMES if getattr(seen, name).confidence > 0.1] == []


def test_equal_digits_next_to_each_other_are_kept_on_a_dense_page() -> None:
    amounts = ["100000.00", "1111.11", "3333.30", "4400.00"]
    page = Image.new("RGB", (1240, 1754), "white")
    font, pen = ImageFont.load_default(15), ImageDraw.Draw(page)
    for row in range(80):
        for column in range(4):
            pen.text((40 + 300 * column, 40 + 21 * row), f"network storage {amounts[column]}", "black", font)
    (seen,) = ocr.read_pictures([page])
    assert sum(word.text in amounts for word in seen.words) >= 318


def test_a_photo_is_turned_as_its_exif_says() -> None:
    photo = oriented(draw().rotate(90, expand=True), 6)
    seen, expected = read(photo), read(PLAIN)
    assert values(seen) == values(expected)
    assert near(box_of(seen.total), box_of(expected.total))


def test_every_frame_of_a_tiff_is_a_page() -> None:
    head, foot = draw(pdf_bytes(make_pdf(INVOICE[:5]))), draw(pdf_bytes(make_pdf(INVOICE[13:])))
    seen = read(image_bytes(head, "TIFF", save_all=True, append_images=[foot], compression="tiff_lzw"))
    assert (seen.page_count, seen.invoice_number.page, seen.total.page) == (2, 1, 2)
    assert (seen.invoice_number.value, seen.total.value) == ("RE-2026-0815", Decimal("119.00"))


def test_a_scanned_pdf_is_read_from_its_picture() -> None:
    seen, expected = read(scanned_pdf(draw())), read(PLAIN)
    assert seen.reader == "ocr"
    assert values(seen) == values(expected)
    assert near(box_of(seen.total), box_of(expected.total))


def test_the_hidden_text_of_another_ocr_is_not_believed() -> None:
    with pikepdf.open(pikepdf_source(scanned_pdf(draw()))) as pdf:
        hide_text(pdf, "Rechnungsnummer: WRONG-1 Gesamtbetrag 1,00 EUR " * 5)
        seen = read(pdf_bytes(pdf))
    assert seen.reader == "ocr"
    assert seen.total.value == Decimal("119.00")


def test_a_line_that_a_scanner_prints_on_a_scan_hides_nothing() -> None:
    with pikepdf.open(pikepdf_source(scanned_pdf(draw()))) as pdf:
        hide_text(pdf, "Scanned by Office-1, 3 March 2026", visible=True)
        assert read(pdf_bytes(pdf)).total.value == Decimal("119.00")


def test_print_on_a_picture_of_paper_is_text() -> None:
    with pikepdf.open(pikepdf_source(scanned_pdf(Image.new("RGB", (600, 800), "white")))) as pdf:
        hide_text(pdf, "Invoice number: A-77 " + "and so many words that no one scanned them " * 3, visible=True)
        invoice = read(pdf_bytes(pdf))
    assert (invoice.reader, invoice.invoice_number.value) == ("text", "A-77")


def test_nothing_is_invented_on_a_blank_page() -> None:
    invoice = read(image_bytes(Image.new("L", (900, 1200), 255)))
    assert set(values(invoice).values()) == {None}
    assert "no_text_layer" in {problem.code for problem in invoice.problems}


def test_a_picture_bomb_is_refused_by_its_header() -> None:
    with pytest.raises(UnreadableDocument, match="megapixels") as caught:
        read(png_that_claims(8_000, 8_000))
    assert caught.value.code == "too_large"


def test_pages_after_the_first_are_left_to_a_person() -> None:
    blank = Image.new("1", (60, 60), 1)
    pages = [blank] * ocr.MAX_OCR_PAGES
    invoice = read(image_bytes(blank, "TIFF", save_all=True, append_images=pages, compression="group4"))
    assert invoice.page_count == ocr.MAX_OCR_PAGES + 1
    assert "pages_not_read" in {problem.code for problem in invoice.problems}


def test_more_pages_than_allowed_are_refused() -> None:
    blank = Image.new("1", (60, 60), 1)
    with pytest.raises(UnreadableDocument) as caught:
        read(image_bytes(blank, "TIFF", save_all=True, append_images=[blank] * 2), max_pages=2)
    assert caught.value.code == "too_many_pages"


def pikepdf_source(data: bytes) -> io.BytesIO:
    return io.BytesIO(data)


def hide_text(pdf: pikepdf.Pdf, text: str, *, visible: bool = False) -> None:
    """Print `text` on the first page, invisibly as an OCR does, or small at its foot."""
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page = pdf.pages[0]
    page.Resources.Font = pikepdf.Dictionary(F1=pdf.make_indirect(font))
    mode = 0 if visible else 3
    page.contents_add(f"BT /F1 6 Tf {mode} Tr 20 10 Td ({text}) Tj ET".encode())
