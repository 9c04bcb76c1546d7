"""Payment codes are read exactly, and one that breaks its standard is not believed."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.codes.payment_codes import BrokenCode, read_payment_code
from tests.invoices.codes import EPC, SWISS, epc


def read(text: str) -> InvoiceData:
    reading = read_payment_code(text.encode(), text)
    assert reading is not None
    return reading


def changed(line: int, value: str) -> str:
    lines = SWISS.split("\n")
    lines[line] = value
    return "\n".join(lines)


def test_an_epc_code_says_whom_to_pay_and_how_much() -> None:
    code = read(EPC)
    assert code.vendor_name.value == "Muster GmbH"
    assert code.iban.value == "DE02120300000000202051"
    assert code.iban.evidence == (Evidence.CHECKSUM_VALID,)
    assert (code.total.value, code.currency.value) == (Decimal("119.00"), "EUR")
    assert code.payment_reference == "RE-1"
    assert {code.iban.source, code.total.source} == {Source.QR}


def test_an_epc_code_may_leave_the_amount_open() -> None:
    assert read(epc(amount="")).total.value is None


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_lines_may_end_in_every_way(ends: str) -> None:
    assert read(EPC.replace("\n", ends)).total.value == Decimal("119.00")


@pytest.mark.parametrize(
    ("number", "charset"), [("1", "utf-8"), ("2", "latin-1"), ("8", "iso8859-15"), ("1", "latin-1")]
)
def test_names_are_in_the_character_set_the_code_names(number: str, charset: str) -> None:
    """The last: many writers name UTF-8 and write Latin-1, which the decoder guesses right."""
    text = epc(name="Müller").replace("\n1\n", f"\n{number}\n")
    code = read_payment_code(text.encode(charset), text)
    assert code is not None
    assert code.vendor_name.value == "Müller"


def test_a_swiss_code_says_what_its_bill_does() -> None:
    code = read(SWISS)
    assert code.vendor_name.value == "Max Muster & Söhne"
    assert code.buyer_name.value == "Simon Muster"
    assert code.vendor_country == "CH"
    assert code.iban.value == "CH4431999123000889012"
    assert (code.total.value, code.currency.value) == (Decimal("1949.75"), "CHF")
    assert code.payment_reference == "210000000003139471430009017"


def test_billing_information_has_number_dates_and_vat_id() -> None:
    code = read(SWISS)
    assert code.invoice_number.value == "10201409"
    assert code.date.value == dt.date(2020, 7, 1)
    assert code.due_date.value == dt.date(2020, 7, 31)
    assert code.vendor_vat_id.value == "CHE106017086"


@pytest.mark.parametrize(
    ("information", "number"),
    [
        (r"//S1/10/X.66711\/8824/11/200712", "X.66711/8824"),
        ("//S1/11/200712", None),
        ("//XX/10/1", None),
        ("", None),
        ("//S1/11/209999/40/0:x", None),
    ],
)
def test_billing_information_may_say_little(information: str, number: str | None) -> None:
    assert read(changed(31, information)).invoice_number.value == number


@pytest.mark.parametrize(
    "text",
    [
        epc(amount="EUR99999999999.00"),
        epc(amount="EUR0.00"),
        epc(amount="EUR-5.00"),
        epc(amount="EUR1e9"),
        epc(amount="EUR٣"),
        epc(amount="USD5.00"),
        epc(iban="DE03120300000000202051"),
        epc(iban=""),
        epc(name=""),
        epc(name="Muster\x00GmbH"),
        epc(name="x" * 71),
        EPC.replace("SCT", "XXX"),
        EPC + "\nmore\nand more\nand more\nand more\nand more",
        "BCD",
        "SPC",
        changed(3, "DE02120300000000202051"),
        changed(18, "1'949.75"),
        changed(19, "USD"),
        changed(30, "ENDE"),
        SWISS + "\n" * 9,
    ],
)
def test_a_code_that_breaks_its_standard_is_not_believed(text: str) -> None:
    with pytest.raises(BrokenCode, match=r"^its? "):
        read(text)


@pytest.mark.parametrize("text", ["https://example.org/pay?amount=5", "", "\n\n\n", "BCDE\n", "WIFI:S:x;;", "\x00\x00"])
def test_other_codes_say_nothing(text: str) -> None:
    assert read_payment_code(text.encode(), text) is None
