"""Amounts and dates are read as people type them, and two readings are decided by the document or asked about."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.facts import Source
from docrail.invoices.kinds import FieldError
from docrail.invoices.model import Candidate, FieldValue, InvoiceData
from docrail.invoices.typed import AmbiguousTextError, Grounds, Understood, understand

TODAY = dt.date(2026, 11, 20)
GERMAN = InvoiceData(vendor_country="DE")
AMERICAN = InvoiceData(vendor_country="US")


def stating(value: Any, field: str = "total", country: str | None = None) -> InvoiceData:
    """Return a document with a value that one of its readers found."""
    found: FieldValue[Any] = FieldValue(value=value, candidates=(Candidate(value=value, source=Source.TEXT_LABEL),))
    return InvoiceData(vendor_country=country).model_copy(update={field: found})


def value_of(text: str, invoice: InvoiceData | None = None, field: str = "total") -> str | None:
    return understand(field, text, invoice or InvoiceData(), TODAY).value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.904,95", "4904.95"),
        ("4,904.95", "4904.95"),
        ("4904,95", "4904.95"),
        ("4 904,95", "4904.95"),
        ("4\u202f904,95", "4904.95"),
        ("4'904.95", "4904.95"),
        ("4904", "4904"),
        ("0.125", "0.125"),
        (",5", "0.5"),
        ("1.234.567", "1234567"),
        ("1,00,000.50", "100000.50"),
        ("€ 4.904,95", "4904.95"),
        ("4.904,95 EUR", "4904.95"),
        ("US$ 12.50", "12.50"),
        ("4.904,-", "4904.00"),
        ("-12,50", "-12.50"),
        ("\u221212,50", "-12.50"),
        ("12,50-", "-12.50"),
        ("(12.50)", "-12.50"),
        ("1234.567", "1234.567"),
    ],
)
def test_an_amount_is_read_as_people_type_it(text: str, value: str) -> None:
    assert understand("total", text, InvoiceData(), TODAY) == Understood(value)


@pytest.mark.parametrize(
    "text", ["12abc", "1.2.3", "1,23,4", "12.34.56,7", "--1", "EUR", "1..5", "1e5", "\u0661", "9" * 15]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(FieldError):
        value_of(text)


@pytest.mark.parametrize("text", ["1.234", "1,234", "-1.234", "€1.234"])
def test_an_amount_with_two_readings_is_asked_about(text: str) -> None:
    with pytest.raises(AmbiguousTextError) as asked:
        value_of(text)
    assert [abs(Decimal(reading)) for reading in asked.value.readings] == [Decimal(1234), Decimal("1.234")]


@pytest.mark.parametrize(
    ("text", "invoice", "value", "because"),
    [
        ("1.234", GERMAN, "1234", "DE"),
        ("1,234", GERMAN, "1.234", "DE"),
        ("1.234", AMERICAN, "1.234", "US"),
        ("1,234", AMERICAN, "1234", "US"),
        ("1,234", stating(Decimal("1234.00")), "1234", "states"),
        ("1,234", stating(Decimal("1.234"), country="US"), "1.234", "states"),
        ("1.234", stating("KWD", "currency"), "1.234", "KWD"),
        ("1.234", stating("DE136695976", "vendor_vat_id"), "1234", "DE"),
    ],
)
def test_the_document_decides_between_two_readings_and_says_so(
    text: str, invoice: InvoiceData, value: str, because: str
) -> None:
    found = understand("total", text, invoice, TODAY)
    assert (found.value, because in (found.because.message if found.because else "")) == (value, True)


@pytest.mark.parametrize(
    "text", ["12.04.2014", "12.4.14", "2014-04-12", "12 Apr 2014", "12. April 2014", "April 12, 2014", "12 avril 2014"]
)
def test_a_date_is_read_as_people_type_it(text: str) -> None:
    assert understand("date", text, InvoiceData(), TODAY) == Understood("2014-04-12")


def test_a_date_with_two_readings_is_decided_by_the_document_or_asked_about() -> None:
    with pytest.raises(AmbiguousTextError) as asked:
        value_of("01/02/24", field="date")
    assert asked.value.readings == ("2024-02-01", "2024-01-02")
    assert value_of("01/02/24", GERMAN, "date") == "2024-02-01"
    assert value_of("01/02/24", AMERICAN, "date") == "2024-01-02"
    assert value_of("01/02/24", stating(dt.date(2024, 1, 2), "date", "DE"), "date") == "2024-01-02"
    assert value_of("13/02/24", AMERICAN, "date") == "2024-02-13"


@pytest.mark.parametrize(
    ("text", "value"),
    [("12 Apr", "2026-04-12"), ("10.12.", "2026-12-10"), ("3.1", "2026-01-03"), ("Dec 30", "2025-12-30")],
)
def test_a_date_without_a_year_is_the_nearest(text: str, value: str) -> None:
    found = understand("date", text, InvoiceData(), TODAY)
    assert (found.value, found.because and found.because.code) == (value, Grounds.TODAY)
    assert value_of("3.1", field="due_date") == "2027-01-03"
    of_2014 = InvoiceData(date=FieldValue(value=dt.date(2014, 3, 1)))
    assert value_of("12 Apr", of_2014, "due_date") == "2014-04-12"


@pytest.mark.parametrize("text", ["yesterday", "31.02.2024", "12.13.2024.", "1", "12 Foo", "2024", "01.01.1066"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(FieldError):
        value_of(text, field="date")


def test_other_fields_are_read_with_their_spaces_and_signs() -> None:
    assert value_of("€", field="currency") == "EUR"
    assert value_of(" eur ", field="currency") == "EUR"
    assert value_of("Muster\n  GmbH", field="vendor_name") == "Muster GmbH"
    assert value_of("DE02 1203 0000 0000 2020 51", field="iban") == "DE02120300000000202051"
    assert value_of("  ", field="total") is None
