"""Documents of hundreds of pages: the first and last pages are read, the others only shown, and there is an end."""

import datetime as dt
import io

import pikepdf
import pytest
from PIL import Image

from docrail.invoices.extent import FIRST_PAGES, LAST_PAGES, MAX_PAGES, pages_to_read
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.page_image import draw_page
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.images import count_pictures, open_pictures
from docrail.invoices.readers.read import read_with_pages
from tests.invoices.documents import make_pdf, pdf_bytes

TODAY = dt.date(2026, 11, 21)
HEADER = [(60, 60, "Muster GmbH"), (60, 130, "Rechnung Nr. L-300"), (60, 150, "Rechnungsdatum: 12.04.2026")]
SUMS = [(380, 300, "Summe netto"), (480, 300, "100,00"), (380, 316, "USt 19 %"), (480, 316, "19,00")]
TOTAL = [(380, 332, "Gesamtbetrag"), (480, 332, "119,00 EUR")]


def long_pdf(pages: int) -> bytes:
    """Return an invoice with its header on the first page and its total on the last."""
    between = ([(60, 60, f"Anlage {page}")] for page in range(2, pages))
    return pdf_bytes(make_pdf(HEADER, *between, SUMS + TOTAL))


def tiff(pages: int) -> bytes:
    written = io.BytesIO()
    page = Image.new("1", (120, 160), 1)
    page.save(written, "TIFF", save_all=True, append_images=[page] * (pages - 2) + [Image.new("1", (160, 120), 1)])
    return written.getvalue()


def test_all_pages_of_a_short_document_are_read_and_the_ends_of_a_long_one() -> None:
    assert list(pages_to_read(50)) == list(range(1, 51))
    read = pages_to_read(51)
    assert (len(read), read[0], read[39], read[40], read[-1]) == (FIRST_PAGES + LAST_PAGES, 1, 40, 42, 51)


def test_an_invoice_of_300_pages_is_read_from_its_first_and_last_pages() -> None:
    invoice, pages = read_with_pages(long_pdf(300), today=TODAY)
    assert (invoice.invoice_number.value, str(invoice.total.value)) == ("L-300", "119.00")
    assert (invoice.total.page, invoice.page_count, len(pages)) == (300, 300, 300)
    assert [page.number for page in pages if page.words] == list(pages_to_read(300))
    [left_out] = [problem for problem in invoice.problems if problem.code == "pages_not_read"]
    assert "Of 300 pages" in left_out.message


def test_nothing_is_left_out_of_fifty_pages() -> None:
    invoice, _ = read_with_pages(long_pdf(50), today=TODAY)
    assert "pages_not_read" not in [problem.code for problem in invoice.problems]


def test_any_page_of_a_long_document_is_drawn() -> None:
    drawn = draw_page(long_pdf(300), 150, MAX_PAGES)
    assert drawn is not None
    assert drawn.startswith(b"\x89PNG")


def test_a_file_with_more_pages_than_people_can_look_at_is_refused() -> None:
    for open_it in (lambda: open_pdf(endless(100_000), MAX_PAGES), lambda: count_pictures(tiff(6), 5)):
        with pytest.raises(UnreadableDocument) as caught:
            open_it()
        assert caught.value.code == Unreadable.TOO_MANY_PAGES


def endless(pages: int) -> bytes:
    pdf = pikepdf.new()
    made = (pikepdf.Dictionary(Type=pikepdf.Name.Page, MediaBox=[0, 0, 99, 99]) for _ in range(pages))
    pdf.Root.Pages.Kids = pikepdf.Array([pdf.make_indirect(page) for page in made])
    pdf.Root.Pages.Count = pages
    return pdf_bytes(pdf)


def test_pages_that_are_harmless_one_by_one_are_refused_when_they_are_a_bomb_together() -> None:
    pdf = make_pdf(*[[(60, 60, "x")]] * 40)
    drawing = pdf.make_stream(b"0 0 m " * (4 << 20))
    for page in pdf.pages:
        page.obj.Contents = drawing
    with pytest.raises(UnreadableDocument) as caught:
        open_pdf(pdf_bytes(pdf), MAX_PAGES)
    assert caught.value.code == Unreadable.UNSAFE


def test_the_pages_of_a_long_picture_file_are_counted_and_only_the_wanted_are_decoded() -> None:
    data = tiff(120)
    assert count_pictures(data, MAX_PAGES) == 120
    assert [picture.size for picture in open_pictures(data, MAX_PAGES, [1, 120])] == [(120, 160), (160, 120)]
