"""Payment codes on pages and pictures are found, read exactly, and compared with what is printed."""

import datetime as dt
import io
from decimal import Decimal
from unittest.mock import Mock

import pikepdf
import pypdfium2
import pytest
import zxingcpp
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.codes import qr
from docrail.invoices.readers.layout.page import Page, Word, lay_out
from docrail.invoices.readers.layout.places import Places
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.page_check import check_against_page
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.read import read_document
from tests.invoices.codes import EPC, SWISS, epc, pdf_with_code, picture_of, png
from tests.invoices.documents import Line, attach, make_pdf, pdf_bytes, ubl_invoice

TODAY = dt.date(2026, 4, 1)
VALID, OTHER = "DE02120300000000202051", "DE89370400440532013000"
PRINTED: list[Line] = [
    (50, 60, "Muster GmbH"),
    (50, 100, "Invoice number: RE-1"),
    (50, 120, "Invoice date: 02.03.2026"),
    (50, 200, "Net amount: 100.00 EUR"),
    (50, 214, "VAT 19%: 19.00 EUR"),
    (50, 228, "Total amount: 119.00 EUR"),
    (50, 260, f"IBAN: {VALID}"),
]


def read(data: bytes) -> InvoiceData:
    return read_document(data, today=TODAY)


def mismatches(invoice: InvoiceData) -> set[str | None]:
    return {problem.field for problem in invoice.problems if problem.code == "page_mismatch"}


@pytest.mark.parametrize("as_picture", [False, True], ids=["drawn", "picture"])
@pytest.mark.parametrize(("content", "millimetres"), [(EPC, 20), (SWISS, 46)], ids=["epc", "swiss"])
def test_a_code_on_a_page_is_found(content: str, millimetres: float, as_picture: bool) -> None:
    data = pdf_with_code([], content, millimetres=millimetres, as_picture=as_picture)
    ((code,), _) = qr.codes_of_pdf(PdfPages(data))
    assert code.text.split("\n") == content.split("\n")
    left, top, right, bottom = code.box
    assert left * 595 == pytest.approx(40, abs=3)
    assert (right - left) * 595 == pytest.approx(millimetres * 72 / 25.4, abs=4)
    assert (bottom - top) * 842 == pytest.approx(millimetres * 72 / 25.4, abs=4)


def test_the_code_wins_and_the_page_agrees() -> None:
    invoice = read(pdf_with_code(PRINTED, EPC))
    assert invoice.iban.source is invoice.total.source is Source.QR
    assert {Evidence.ON_PAGE, Evidence.SECOND_SOURCE_AGREES} <= set(invoice.iban.evidence)
    assert {candidate.source for candidate in invoice.total.candidates} == {Source.QR, Source.TEXT_LABEL}
    assert invoice.payment_reference == "RE-1"
    assert set(invoice.readers) == {"text", "qr"}
    assert not invoice.has_errors()


@pytest.mark.parametrize(
    ("content", "field"), [(epc(iban=OTHER), "iban"), (epc(amount="EUR1119.00"), "total")], ids=["iban", "amount"]
)
def test_a_code_that_contradicts_the_page_needs_a_person(content: str, field: str) -> None:
    invoice = read(pdf_with_code(PRINTED, content))
    assert mismatches(invoice) == {field}
    assert invoice.has_errors()
    assert invoice.confidence <= 0.40


def test_a_code_for_the_rest_that_is_printed_too_leaves_the_total_alone() -> None:
    printed = [*PRINTED, (50, 242, "Paid before: 19.00 EUR"), (50, 256, "To pay: 100.00 EUR")]
    invoice = read(pdf_with_code(printed, epc(amount="EUR100.00")))
    assert invoice.total.value == Decimal("119.00")
    assert mismatches(invoice) == set()


def test_codes_for_instalments_say_only_what_they_agree_on() -> None:
    invoice = read(pdf_with_code([], epc(amount="EUR50.00"), epc(amount="EUR69.00")))
    assert invoice.iban.value == VALID
    assert invoice.total.value is None


def test_a_code_that_contradicts_the_embedded_e_invoice_needs_a_person() -> None:
    with pikepdf.open(io.BytesIO(pdf_with_code(PRINTED[:-1], epc(iban=OTHER)))) as pdf:
        attach(pdf, "factur-x.xml", ubl_invoice())
        invoice = read(pdf_bytes(pdf))
    assert invoice.iban.value == VALID
    assert mismatches(invoice) == {"iban"}


def test_a_broken_code_is_a_warning_and_the_page_is_read() -> None:
    invoice = read(pdf_with_code(PRINTED, epc(amount="EUR99999999999999")))
    problem = next(problem for problem in invoice.problems if problem.code == "payment_code_broken")
    assert "99999999999999" in problem.message
    assert invoice.total.value == Decimal("119.00")
    assert "qr" not in invoice.readers


@pytest.mark.parametrize("content", ["https://example.org/" + "a" * 900, "\x00" * 300, "BC", "€" * 200])
def test_other_codes_change_nothing(content: str) -> None:
    assert read(pdf_with_code(PRINTED, content)) == read(pdf_bytes(make_pdf(PRINTED)))


def test_a_page_of_plain_text_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing a page and looking for codes costs a third of reading it."""
    monkeypatch.setattr(zxingcpp, "read_barcodes", lambda *_, **__: pytest.fail("the page was searched"))
    assert qr.codes_of_pdf(PdfPages(pdf_bytes(make_pdf(PRINTED)))) == ([], ())


def test_a_page_with_a_giant_picture_is_not_searched() -> None:
    data = pdf_with_code([], EPC, as_picture=True)
    with pikepdf.open(io.BytesIO(data)) as pdf:
        pdf.pages[0].Resources.XObject["/Q0"].Width = 60_000
        pdf.pages[0].Resources.XObject["/Q0"].Height = 60_000
        assert qr.codes_of_pdf(PdfPages(pdf_bytes(pdf))) == ([], ())


def test_a_picture_that_cannot_be_searched_loses_its_codes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypdfium2.raw, "FPDFImageObj_GetImagePixelSize", lambda *_: 0)
    invoice = read(pdf_with_code(PRINTED, EPC, as_picture=True))
    problem = next(problem for problem in invoice.problems if problem.code == "payment_codes_not_searched")
    assert "Page 1 is damaged" in problem.message
    assert (invoice.total.value, "qr" in invoice.readers) == (Decimal("119.00"), False)


def test_a_broken_page_does_not_keep_the_others_from_being_searched() -> None:
    with pikepdf.open(io.BytesIO(pdf_with_code([], EPC))) as pdf:
        pdf.add_blank_page().obj["/Type"] = pikepdf.Name("/Nothing")
        (code,), (problem,) = qr.codes_of_pdf(PdfPages(pdf_bytes(pdf)))
    assert (code.page, "Page 2 is damaged" in problem.message) == (1, True)


def test_of_a_long_document_the_ends_are_searched() -> None:
    with (
        pikepdf.open(io.BytesIO(pdf_with_code([], EPC))) as coded,
        pikepdf.open(io.BytesIO(pdf_bytes(make_pdf([])))) as blank,
    ):
        pdf = pikepdf.new()
        for position in range(12):
            pdf.pages.extend((coded if position in {0, 6, 11} else blank).pages)
        codes, _ = qr.codes_of_pdf(PdfPages(pdf_bytes(pdf)))
    assert [code.page for code in codes] == [1, 12]


@pytest.mark.parametrize("turns", [0, 90, 180, 270])
def test_a_code_on_a_picture_is_found_however_it_lies(turns: int) -> None:
    picture = picture_of(EPC).rotate(turns, expand=True)
    (code,) = qr.codes_of_picture(picture.convert("RGB"), 1)
    assert code.text == EPC


def test_a_huge_picture_is_searched_smaller() -> None:
    page = Image.new("L", (6000, 6000), 255)
    page.paste(picture_of(EPC, module=20), (200, 3000))
    assert [code.text for code in qr.codes_of_picture(page, 1)] == [EPC]


@pytest.mark.skipif(not ocr.installed(), reason="reads pictures with the extra `ocr`")
def test_a_code_on_a_picture_of_an_invoice_counts() -> None:
    invoice = read(png(picture_of(EPC, module=8, margin=120)))
    assert invoice.iban.value == VALID
    assert invoice.iban.source is Source.QR


@pytest.mark.parametrize(("score", "spoken"), [(None, True), (0.9, False)], ids=["text", "ocr"])
def test_a_value_missing_from_the_ocr_does_not_count_against_a_code(score: float | None, spoken: bool) -> None:
    code, _ = qr.read_codes([qr.Code(EPC.encode(), EPC, 1, (0.1, 0.1, 0.2, 0.2))])
    assert code
    page = Page(1, 595, 842, (Word("Muster", 50, 50, 90, 60, score),))
    checked = check_against_page(code, InvoiceData(), Places(lay_out([page])))
    assert (Evidence.NOT_ON_PAGE in checked.iban.evidence) is spoken


@pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`")
def test_a_picture_is_unpacked_once_for_its_words_and_its_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare, unpack = PngImageFile.load_prepare, Mock()

    def load_prepare(image: PngImageFile) -> None:
        unpack()
        prepare(image)

    monkeypatch.setattr(PngImageFile, "load_prepare", load_prepare)
    assert "qr" in read(png(picture_of(EPC))).readers
    assert unpack.call_count == 1
