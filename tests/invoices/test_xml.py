"""E-invoice XML is read exactly, bare and embedded, and attacks are refused."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.facts import DocumentType, Evidence
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.einvoice.read_xml import read_einvoice_xml
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES, attach, make_pdf, pdf_bytes, ubl_invoice

TODAY = dt.date(2026, 4, 1)
BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">]><lolz>&f;&f;&f;</lolz>"""
XXE = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><Invoice>&x;</Invoice>'
PRINTED = [
    (50.0, 60.0, "Muster GmbH"),
    (50.0, 100.0, "Invoice number: RE-1"),
    (50.0, 120.0, "Invoice date: 02.03.2026"),
]


def embedded(*printed: tuple[float, float, str], name: str = "factur-x.xml") -> bytes:
    pdf = make_pdf(printed)
    attach(pdf, name, ubl_invoice())
    return pdf_bytes(pdf)


@pytest.mark.parametrize(
    ("root", "type_code", "expected"),
    [
        ("Invoice", "380", DocumentType.INVOICE),
        ("Invoice", "389", DocumentType.INVOICE),
        ("Invoice", "381", DocumentType.CREDIT_NOTE),
        ("CreditNote", "381", DocumentType.CREDIT_NOTE),
        ("CreditNote", "396", DocumentType.CREDIT_NOTE),
    ],
)
def test_the_type_code_identifies_credit_notes(root: str, type_code: str, expected: DocumentType) -> None:
    invoice = read_einvoice_xml(ubl_invoice(root=root, type_code=type_code))
    assert invoice.document_type.value is expected
    assert invoice.total.value == Decimal("119.00")
    assert len(invoice.line_items) == 1


def test_an_account_number_is_no_iban() -> None:
    assert read_einvoice_xml(ubl_invoice(iban="12345678")).iban.value is None


def test_a_number_that_is_none_leaves_the_field_empty() -> None:
    invoice = read_einvoice_xml(ubl_invoice(total="1E999999", date="2026-13-40"))
    assert invoice.total.value is None
    assert invoice.date.value is None


def test_utf_16_is_read() -> None:
    xml = ubl_invoice(vendor="Müller & Söhne".replace("&", "&amp;")).decode().replace("UTF-8", "UTF-16")
    assert read_document(xml.encode("utf-16"), today=TODAY).vendor_name.value == "Müller & Söhne"


@pytest.mark.parametrize(("attack", "code"), [(BOMB, "unsafe"), (XXE, "unsafe")])
def test_entities_are_refused(attack: bytes, code: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(attack, today=TODAY)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("data", "code"), [(b"<rss><channel/></rss>", "not_an_invoice"), (b"<Invoice><unclosed>", "damaged")]
)
def test_other_xml_is_no_invoice(data: bytes, code: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(data, today=TODAY)
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["factur-x.xml", "ZUGFeRD-invoice.xml", "XRECHNUNG.XML", "anything"])
def test_an_embedded_e_invoice_is_found_under_any_name(name: str) -> None:
    invoice = read_document(embedded(*PRINTED, name=name), today=TODAY)
    assert invoice.reader == "ubl"
    assert invoice.page_count == 1
    assert Evidence.ON_PAGE in invoice.invoice_number.evidence


def test_an_embedded_bomb_leaves_the_page_to_be_read() -> None:
    pdf = make_pdf(PRINTED)
    attach(pdf, "factur-x.xml", BOMB)
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert invoice.reader == "text"
    assert invoice.invoice_number.value == "RE-1"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("Total amount due: 1,119.00 EUR", "total"),
        ("IBAN: DE89 3704 0044 0532 0130 00", "iban"),
        ("Invoice number: RE-2", "invoice_number"),
    ],
)
def test_a_page_that_contradicts_the_xml_needs_a_person(line: str, field: str) -> None:
    printed = [PRINTED[0], PRINTED[2], (50.0, 140.0, line)]
    invoice = read_document(embedded(*printed), today=TODAY)
    problem = next(problem for problem in invoice.problems if problem.code == "page_mismatch")
    assert problem.field == field
    assert invoice.has_errors()
    assert invoice.confidence <= 0.40


def test_a_page_that_agrees_raises_confidence() -> None:
    alone = read_document(ubl_invoice(), today=TODAY)
    sums = [(50.0, 200.0, "Net: 100,00"), (50.0, 214.0, "VAT: 19,00"), (50.0, 228.0, "Total amount due: 119,00 EUR")]
    account = (50.0, 260.0, "IBAN: DE02 1203 0000 0000 2020 51")
    printed = read_document(embedded(*PRINTED, *sums, account), today=TODAY)
    assert {Evidence.ON_PAGE, Evidence.SECOND_SOURCE_AGREES} <= set(printed.total.evidence)
    assert printed.total.confidence >= alone.total.confidence
    assert printed.total.box is not None
    assert not printed.has_errors()


def test_zugferd_1_notes_are_no_lines() -> None:
    data = (SAMPLES / "zf1_comfort_rabatte.pdf").read_bytes()
    assert all(line.amount is not None for line in read_document(data, today=TODAY).line_items)
