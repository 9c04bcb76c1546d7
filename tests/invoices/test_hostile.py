"""Files that are not invoices, or mean harm, are refused with a code and a sentence; odd ones are read with a flag."""

import datetime as dt
import io
import random
import zipfile
import zlib
from decimal import Decimal

import pikepdf
import pytest

from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES, make_pdf, pdf_bytes

TODAY = dt.date(2026, 11, 1)
E_INVOICE = (SAMPLES / "zf1_comfort_rabatte.pdf").read_bytes()
TOTAL = Decimal("215.14")
LINE = (50.0, 60.0, "Invoice number: RE-1")


def encrypted(user: str) -> bytes:
    return pdf_bytes(make_pdf([LINE]), encryption=pikepdf.Encryption(owner="owner", user=user))


def bomb() -> bytes:
    pdf = make_pdf([LINE])
    packed = zlib.compress(b" " * (40 << 20), 9)
    pdf.pages[0].Contents = pikepdf.Stream(pdf, packed, Filter=pikepdf.Name.FlateDecode)
    return pdf_bytes(pdf, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)


def random_bytes() -> bytes:
    return bytes(random.Random(1).randrange(128, 256) for _ in range(5000))


REFUSED = {
    "nothing": (b"", "empty"),
    "program": (b"MZ" + bytes(400), "unknown_type"),
    "web page": (b"<!DOCTYPE html><html><body>Invoice</body></html>", "unknown_type"),
    "archive": (b"PK\x03\x04" + bytes(100), "unknown_type"),
    "plain text": (b"Invoice 1, total 5.00", "unknown_type"),
    "noise": (random_bytes(), "unknown_type"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "damaged"),
    "jpeg": (b"\xff\xd8\xff\xe0" + bytes(100), "damaged"),
    "tiff": (b"II*\x00" + bytes(100), "damaged"),
    "only a header": (b"%PDF-1.7\n", "damaged"),
    "locked": (encrypted("secret"), "encrypted"),
    "bomb": (bomb(), "unsafe"),
    "endless": (pdf_bytes(make_pdf(*[[LINE]] * 1001)), "too_many_pages"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_why_and_what_to_do(name: str) -> None:
    data, code = REFUSED[name]
    with pytest.raises(UnreadableDocument) as caught:
        read_document(data, today=TODAY)
    assert caught.value.code == code
    assert any(word in caught.value.message for word in ("Send", "Ask", "Print"))


@pytest.mark.parametrize(
    ("data", "flag"),
    [
        (E_INVOICE[:-300], "repaired"),
        (b"\r\n--junk--\r\n" * 20 + E_INVOICE, "data_before_header"),
        (b"<html><script>alert(1)</script></html>" + E_INVOICE, "data_before_header"),
    ],
    ids=["cut off", "junk before", "also a web page"],
)
def test_damaged_envelopes_are_read_with_a_flag(data: bytes, flag: str) -> None:
    invoice = read_document(data, today=TODAY)
    assert flag in invoice.flags
    assert invoice.total.value == TOTAL


@pytest.mark.parametrize("markup", [b"<html><body>", b"\n<SCRIPT src=x>", b"<?xml version='1.0'?>", b"<!DOCTYPE html>"])
def test_a_file_that_is_also_a_web_page_is_seen_by_a_person(markup: bytes) -> None:
    invoice = read_document(markup + E_INVOICE, today=TODAY)
    assert "markup_before_header" in {problem.code for problem in invoice.problems}
    assert not decide(invoice, WITHOUT_HISTORY).passes


def test_a_file_that_is_also_a_zip_archive_is_seen_by_a_person() -> None:
    archive = io.BytesIO(E_INVOICE)
    with zipfile.ZipFile(archive, "a") as zipped:  # appends to a file that is not an archive
        zipped.writestr("invoice.exe", b"MZ")
    invoice = read_document(archive.getvalue(), today=TODAY)
    assert "also_a_zip" in {problem.code for problem in invoice.problems}
    assert not decide(invoice, WITHOUT_HISTORY).passes
    assert "also_a_zip" not in read_document(E_INVOICE, today=TODAY).flags


def test_bytes_that_mail_adds_before_a_file_are_ignored() -> None:
    invoice = read_document(b"Content-Type: application/pdf <a@b.example>\r\n" + E_INVOICE, today=TODAY)
    assert "markup_before_header" not in {problem.code for problem in invoice.problems}


def test_an_open_lock_is_a_warning() -> None:
    invoice = read_document(encrypted(""), today=TODAY)
    assert "encrypted" in invoice.flags
    assert invoice.invoice_number.value == "RE-1"
    assert "encrypted" in {problem.code for problem in invoice.problems}


def script(code: str) -> pikepdf.Dictionary:
    return pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=code)


def test_a_script_on_opening_is_flagged() -> None:
    pdf = make_pdf([LINE])
    pdf.Root.OpenAction = script("app.alert(1)")
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert "has_active_content" in invoice.flags
    assert invoice.invoice_number.value == "RE-1"


def test_a_launch_after_a_harmless_action_is_flagged() -> None:
    pdf = make_pdf([LINE])
    link = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="x", Next=pikepdf.Dictionary(S=pikepdf.Name.Launch))
    annotation = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9], A=link)
    pdf.pages[0].Annots = pikepdf.Array([pdf.make_indirect(annotation)])
    assert "has_active_content" in read_document(pdf_bytes(pdf), today=TODAY).flags


def test_a_link_is_no_active_content() -> None:
    pdf = make_pdf([LINE])
    link = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="https://example.org")
    annotation = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9], A=link)
    pdf.pages[0].Annots = pikepdf.Array([pdf.make_indirect(annotation)])
    assert read_document(pdf_bytes(pdf), today=TODAY).flags == ()


def test_a_blank_page_is_for_a_person_and_no_error() -> None:
    invoice = read_document(pdf_bytes(make_pdf([])), today=TODAY)
    assert invoice.flags == ("no_text_layer",)
    assert invoice.total.value is None
    assert invoice.confidence <= 0.05
    assert "no_text_layer" in {problem.code for problem in invoice.problems}


def test_a_letter_without_amounts_invents_nothing() -> None:
    lines = [(50.0, 60.0 + 14 * n, text) for n, text in enumerate(["Dear Sir,", "thank you for your visit.", "Yours"])]
    invoice = read_document(pdf_bytes(make_pdf(lines)), today=TODAY)
    assert invoice.total.value is None
    assert invoice.invoice_number.value is None
    assert invoice.confidence < 0.2
