"""Without the extra `ocr` everything else works, and the error for a picture says what to install."""

import datetime as dt
from collections.abc import Iterator

import pytest

from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.pictures import PLAIN, draw, image_bytes

TODAY = dt.date(2026, 11, 1)


@pytest.fixture(autouse=True)
def _not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python finds none of the extra's packages."""
    monkeypatch.setattr(ocr, "find_spec", lambda _name: None)
    ocr.installed.cache_clear()
    yield
    monkeypatch.undo()
    ocr.installed.cache_clear()


def read(data: bytes) -> InvoiceData:
    return read_document(data, today=TODAY)


def test_a_picture_asks_for_the_extra() -> None:
    with pytest.raises(UnreadableDocument, match=r"pip install 'docrail\[ocr\]'") as caught:
        read(image_bytes(draw()))
    assert caught.value.code == "needs_ocr"


def test_a_scan_is_no_error_and_says_what_was_not_read() -> None:
    invoice = read(image_bytes(draw(), "PDF"))
    assert invoice.total.value is None
    assert any("docrail[ocr]" in problem.message for problem in invoice.problems)


def test_text_is_read_and_nothing_is_missed() -> None:
    invoice = read(PLAIN)
    assert (invoice.reader, invoice.invoice_number.value) == ("text", "RE-2026-0815")
    assert "pages_not_read" not in {problem.code for problem in invoice.problems}


def test_a_blank_page_is_no_picture() -> None:
    assert "pages_not_read" not in {problem.code for problem in read(pdf_bytes(make_pdf([]))).problems}
