"""The shipped samples are read as a person reads them."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.model import REQUIRED_FIELDS, InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.read import read_document
from docrail.invoices.values.folding import squeeze
from tests.invoices.documents import READABLE, SAMPLES

TODAY = dt.date(2026, 11, 1)
PRINTED = ("text", "ocr")


def read_sample(name: str) -> InvoiceData:
    return read_document((SAMPLES / name).read_bytes(), today=TODAY)


def value_of(invoice: InvoiceData, name: str) -> Any:
    return len(invoice.line_items) if name == "line_count" else getattr(invoice, name).value


def same(truth: Any, found: Any) -> bool:
    if isinstance(found, Decimal):
        return Decimal(truth) == found
    return squeeze(str(truth)) == squeeze(str(found))


@pytest.mark.parametrize("entry", READABLE, ids=lambda entry: str(entry["file"]))
def test_no_value_is_read_wrongly(entry: dict[str, Any]) -> None:
    invoice = read_sample(entry["file"])
    found = {name: value_of(invoice, name) for name in entry["expected"]}
    wrong = {name: value for name, value in found.items() if value and not same(entry["expected"][name], value)}
    assert wrong == {}
    assert invoice.reader == entry["reader"]


@pytest.mark.parametrize("entry", READABLE, ids=lambda entry: str(entry["file"]))
def test_every_required_field_is_found_with_a_source(entry: dict[str, Any]) -> None:
    invoice = read_sample(entry["file"])
    assert all(getattr(invoice, name).value is not None for name in REQUIRED_FIELDS)
    assert all(getattr(invoice, name).source and getattr(invoice, name).confidence > 0 for name in REQUIRED_FIELDS)


@pytest.mark.parametrize(
    "entry", [e for e in READABLE if e["reader"] not in PRINTED], ids=lambda entry: str(entry["file"])
)
def test_e_invoices_are_read_completely(entry: dict[str, Any]) -> None:
    invoice = read_sample(entry["file"])
    assert {name for name in entry["expected"] if not same(entry["expected"][name], value_of(invoice, name))} == set()
    assert invoice.confidence > 0.95


@pytest.mark.parametrize("entry", [e for e in READABLE if e["reader"] in PRINTED], ids=lambda entry: str(entry["file"]))
def test_printed_values_keep_their_place_on_the_page(entry: dict[str, Any]) -> None:
    invoice = read_sample(entry["file"])
    assert invoice.total.page is not None
    assert invoice.total.box is not None
    left, top, right, bottom = invoice.total.box
    assert 0 <= left < right <= 1
    assert 0 <= top < bottom <= 1


def test_the_broken_sample_says_what_to_do() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read_sample("broken.pdf")
    assert caught.value.code == "damaged"
    assert "Send it again" in caught.value.message


def test_a_reading_survives_json() -> None:
    invoice = read_sample("zf1_comfort_rabatte.pdf")
    assert InvoiceData.model_validate_json(invoice.model_dump_json()) == invoice


def test_equal_bytes_are_rebuilt_for_another_document() -> None:
    invoice = read_sample("xr_01.01a_ubl.xml")
    assert invoice.for_document("doc_1").document_id == "doc_1"
    assert invoice.for_document("doc_1").total == invoice.total
