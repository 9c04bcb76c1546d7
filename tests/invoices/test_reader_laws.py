"""Laws of the pure readers, over unusual texts and values: none raises, and none returns an impossible value."""

import datetime as dt
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.reconcile import reconcile
from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.kinds import TYPE, Arrow
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, agree
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.codes.payment_codes import BrokenCode, read_payment_code
from docrail.invoices.readers.einvoice.read_xml import read_einvoice_xml
from docrail.invoices.readers.einvoice.xml_values import as_amount, as_date, as_iban_field, as_unit_price, as_vat_field
from docrail.invoices.readers.layout.page import Page, Word, lay_out
from docrail.invoices.readers.layout.places import Places
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.numbers import find_amounts
from tests.invoices.codes import SWISS
from tests.invoices.documents import SAMPLES, ubl_invoice
from tests.invoices.fuzz import broken_promise
from tests.invoices.mutations import mutate

XML_TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff<&"), max_size=60)
LIKE_VALUES = st.one_of(
    st.text(max_size=40), st.from_regex(r"[+-]?[0-9.,'e\s]{0,30}"), st.from_regex(r"[A-Z]{2}[0-9 ]{2,34}")
)
patient = settings(deadline=None)  # the machine may be busy
TODAY = dt.date(2026, 11, 1)
E_INVOICES = [ubl_invoice(), ubl_invoice(root="CreditNote"), *(path.read_bytes() for path in SAMPLES.glob("*.xml"))]
LARGEST = Decimal(10**14)
VALUES: dict[Arrow, st.SearchStrategy[Any]] = {
    Arrow.TEXT: st.text(max_size=12),
    Arrow.DATE: st.dates(),
    Arrow.AMOUNT: st.decimals(allow_nan=False, allow_infinity=False, places=2),
}
SOURCES = (Source.XML, Source.QR, Source.GEMINI, Source.TEXT_LABEL, Source.TEXT_PATTERN, Source.OCR_LABEL)


def fields_of(name: str) -> st.SearchStrategy[FieldValue[Any]]:
    found = st.builds(
        FieldValue[Any],
        value=st.sampled_from(DocumentType) if FIELDS[name].kind is TYPE else VALUES[FIELDS[name].kind.arrow],
        source=st.sampled_from(SOURCES),
        evidence=st.lists(st.sampled_from(list(Evidence)), max_size=3, unique=True).map(tuple),
        page=st.none() | st.just(1),
        box=st.none() | st.just((0.1, 0.1, 0.2, 0.2)),
    )
    return st.just(FieldValue[Any]()) | found


READINGS = st.builds(
    lambda reader, fields: InvoiceData(reader=reader).model_copy(update=fields),
    st.sampled_from(("cii", "qr", "gemini", "text", "ocr")),
    st.fixed_dictionaries({name: fields_of(name) for name in FIELD_NAMES}),
)


@patient
@given(LIKE_VALUES, LIKE_VALUES)
def test_xml_values_are_what_parquet_holds_or_nothing(words: str, other: str) -> None:
    for amount in (as_amount(words), as_unit_price(words, other)):
        assert amount is None or (amount.is_finite() and abs(amount) < LARGEST)
    day = as_date(words)
    assert day is None or isinstance(day, dt.date)
    assert as_vat_field(words).value != ""
    iban = as_iban_field([words, other], direct_debit=False)
    assert iban.value is None or iban.candidates[0].value == iban.value


@patient
@given(st.binary(max_size=400))
def test_bytes_are_an_e_invoice_or_refused(data: bytes) -> None:
    with suppress(UnreadableDocument):
        assert read_einvoice_xml(data).reader in {"cii", "ubl"}


@patient
@given(
    st.fixed_dictionaries(dict.fromkeys(("number", "date", "type_code", "vendor", "iban", "net", "total"), XML_TEXT))
)
def test_any_words_in_an_e_invoice_are_read(words: dict[str, str]) -> None:
    invoice = read_einvoice_xml(ubl_invoice(**words))
    assert InvoiceData.model_validate_json(invoice.model_dump_json()) == invoice
    assert (invoice.invoice_number.value or "") == " ".join(words["number"].split())


@patient
@given(st.sampled_from(E_INVOICES), st.integers(0, 1 << 32))
def test_changed_e_invoices_keep_their_promises(data: bytes, seed: int) -> None:
    with suppress(UnreadableDocument):
        assert broken_promise(assess(read_einvoice_xml(mutate(data, E_INVOICES, Random(seed))), TODAY)) is None


@patient
@given(st.text(max_size=300))
def test_amounts_and_dates_lie_in_their_text(text: str) -> None:
    amounts, dates = list(find_amounts(text)), [*find_dates(text), *find_dates(text, month_first=True)]
    assert all(0 <= amount.start < amount.end <= len(text) for amount in amounts)
    assert all(0 <= date.start < date.end <= len(text) for date in dates)


@patient
@given(st.text(max_size=60), st.text(max_size=60))
def test_agreement_is_mutual_and_everything_agrees_with_itself(one: str, other: str) -> None:
    assert agree("vendor_name", one, one) is True
    assert agree("iban", one, other) == agree("iban", other, one)


@patient
@given(st.integers(0, 31), st.text(max_size=90), st.text(max_size=20))
def test_a_code_with_any_line_is_read_or_broken(number: int, line: str, end: str) -> None:
    lines = SWISS.split("\n")
    lines[number] = line
    text = "\n".join(lines) + end
    try:
        code = read_payment_code(text.encode("utf-8", "replace"), text)
    except BrokenCode:
        return
    if code is not None:
        assert "\\u0000" not in code.model_dump_json()
        assert code.total.value is None or 0 < code.total.value < LARGEST


@patient
@given(st.lists(st.text(min_size=1, max_size=12), max_size=12), VALUES[Arrow.TEXT], VALUES[Arrow.AMOUNT], st.dates())
def test_a_place_is_a_box_of_the_page(texts: list[str], words: str, amount: Decimal, day: dt.date) -> None:
    line = [
        Word(text, 20.0 * n, 10, 20.0 * n + 18, 20) for n, text in enumerate([*texts, str(amount), day.isoformat()])
    ]
    places = Places(lay_out([Page(1, 300.0, 400.0, tuple(line))]))
    for value in (words, amount, day):
        for place in places.of(value):
            left, top, right, bottom = place.box
            assert 0 <= left <= right <= 1
            assert 0 <= top <= bottom <= 1
    if 1970 <= day.year <= 2069:
        assert places.mention(day)


@patient
@given(st.lists(READINGS, min_size=1, max_size=4))
def test_reconciling_keeps_every_value_and_invents_none(readings: list[InvoiceData]) -> None:
    whole = reconcile(readings)
    assert reconcile([whole]).model_dump() == whole.model_dump()
    for name in FIELD_NAMES:
        chosen, read = getattr(whole, name), [getattr(reading, name) for reading in readings]
        values = [field.value for field in read if field.value is not None]
        assert (chosen.value is None) == (not values)
        assert {(c.value, c.source) for c in chosen.candidates} == {
            (f.value, f.source) for f in read if f.value is not None
        }
        if values:
            assert chosen.candidates[0].value == chosen.value
        if any(field.source is Source.XML for field in read):
            assert chosen.source is Source.XML
