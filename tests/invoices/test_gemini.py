"""What Gemini's answer says as an invoice, and what the pages say of it."""

import datetime as dt
from decimal import Decimal

import pytest
from pydantic import ValidationError

from docrail.embedded.fake_gemini.answers import wire_of
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.kinds import amount_of
from docrail.invoices.llm import page_check as gemini_check
from docrail.invoices.llm.page_check import check_on_pages, with_findings
from docrail.invoices.llm.prompt import PROMPT_VERSION
from docrail.invoices.llm.wire import WireInvoice, WireLine, WireTax, quotes_of, read_answer
from docrail.invoices.model import FIELD_NAMES, FieldValue, InvoiceData, LineItem, TaxPart
from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.values.folding import squeeze

TODAY = dt.date(2026, 11, 21)
WIDTH, HEIGHT = 600.0, 800.0


def answer_of(**fields: str | None) -> WireInvoice:
    """Return an answer with only these fields, each quoting its value."""
    wire = {name: {"value": fields.get(name), "source_text": fields.get(name)} for name in FIELD_NAMES}
    return WireInvoice.model_validate(wire)


def page(*rows: str, score: float | None = None) -> Page:
    """Return a page of rows, 20 points apart, each character 10 wide."""
    words = []
    for number, row in enumerate(rows):
        left = 50.0
        for text in row.split(" "):
            words.append(Word(text, left, 100 + 20 * number, left + 10 * len(text), 112 + 20 * number, score))
            left += 10 * len(text) + 5
    return Page(1, WIDTH, HEIGHT, tuple(words))


def checked(answer: WireInvoice, *pages: Page) -> InvoiceData:
    return check_on_pages(read_answer(answer, model="m"), quotes_of(answer), pages)


def test_an_answer_becomes_an_invoice() -> None:
    answer = answer_of(
        document_type="Credit note",
        invoice_number=" R-1\n2 ",
        date="2026-11-02",
        vendor_name="Muster GmbH",
        vendor_vat_id="DE 136 695 976",
        iban="de02 1203 0000 0000 2020 51",
        currency="eur",
        net="100.00",
        tax="19.00",
        total="1,119.00",
    ).model_copy(
        update={
            "vendor_country": "de",
            "total_adjustment": "-0.01",
            "line_items": [WireLine(description="Nuts", quantity="2", unit_price="50", amount="100", tax_rate="19 %")],
            "tax_parts": [WireTax(rate="19", base="100", tax="19"), WireTax(rate="7", base="0")],
        }
    )
    invoice = read_answer(answer, model="gemini-x-001")
    assert (invoice.reader, invoice.model, invoice.prompt_version) == ("gemini", "gemini-x-001", PROMPT_VERSION)
    assert invoice.document_type.value is DocumentType.CREDIT_NOTE
    assert (invoice.invoice_number.value, invoice.date.value) == ("R-1 2", dt.date(2026, 11, 2))
    assert (invoice.iban.value, invoice.iban.evidence) == ("DE02120300000000202051", (Evidence.CHECKSUM_VALID,))
    assert (invoice.vendor_vat_id.value, invoice.vendor_vat_id.evidence) == ("DE136695976", (Evidence.CHECKSUM_VALID,))
    assert (invoice.currency.value, invoice.vendor_country) == ("EUR", "DE")
    assert (invoice.total.value, invoice.total_adjustment) == (Decimal("1119.00"), Decimal("-0.01"))
    assert invoice.line_items == (
        LineItem(
            description="Nuts", quantity=Decimal(2), unit_price=Decimal(50), amount=Decimal(100), tax_rate=Decimal(19)
        ),
    )
    assert invoice.tax_parts == (TaxPart(rate=Decimal(19), base=Decimal(100), tax=Decimal(19)),)
    assert {getattr(invoice, name).source for name in FIELD_NAMES} == {Source.GEMINI, Source.NOWHERE}


@pytest.mark.parametrize(
    ("words", "amount"),
    [
        ("1234.56", "1234.56"),
        ("-12.00", "-12.00"),
        ("\u221212", "-12"),
        ("1.234,56", "1234.56"),
        ("1 234,56", "1234.56"),
        ("19 %", "19"),
        ("1E+3", "1E+3"),
        ("", None),
        (None, None),
        ("twelve", None),
        ("NaN", None),
        ("Infinity", None),
        ("1e99", None),
        ("9" * 40, None),
        ("0.123456789", None),
    ],
)
def test_amounts_are_read_and_nonsense_is_left_out(words: str | None, amount: str | None) -> None:
    assert amount_of(words) == (None if amount is None else Decimal(amount))


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("document_type", "letter"),
        ("date", "soon"),
        ("date", "2026-02-31"),
        ("currency", "Euro"),
        ("total", "?"),
        ("iban", " "),
    ],
)
def test_a_value_of_the_wrong_kind_is_not_claimed(field: str, words: str) -> None:
    assert getattr(read_answer(answer_of(**{field: words}), model="m"), field) == FieldValue()


@pytest.mark.parametrize("answer", ["{}", '{"document_type": "invoice"}', '{"document_type": "letter"}', "[]"])
def test_an_answer_of_another_shape_is_none(answer: str) -> None:
    with pytest.raises(ValidationError):
        WireInvoice.model_validate_json(answer)


def test_a_value_on_the_page_gets_its_place() -> None:
    invoice = checked(answer_of(total="119.00", date="2026-11-02"), page("Datum 02.11.2026", "Gesamt 119,00 EUR"))
    assert invoice.total.evidence == (Evidence.ON_PAGE,)
    assert (invoice.total.page, invoice.date.page) == (1, 1)
    left, top, right, bottom = invoice.total.box or (0, 0, 0, 0)
    # with its currency
    assert (left, top, right, bottom) == pytest.approx((115 / WIDTH, 120 / HEIGHT, 210 / WIDTH, 132 / HEIGHT), abs=1e-3)


def test_of_several_places_the_quoted_one_is_its_own() -> None:
    answer = answer_of(total="119.00")
    answer.total.source_text = "Zahlbetrag 119,00"
    invoice = checked(answer, page("Summe 119,00", "Zahlbetrag 119,00", "davon 119,00"))
    assert (invoice.total.box or (0, 0))[1] == pytest.approx(120 / HEIGHT, abs=1e-3)


def test_a_text_is_found_however_it_is_set_and_over_rows_without_a_box() -> None:
    invoice = checked(
        answer_of(iban="DE02120300000000202051", vendor_name="Muster Handels GmbH"),
        page("Muster Handels", "GmbH", "IBAN DE02 1203 0000 0000 2020 51"),
    )
    assert Evidence.ON_PAGE in invoice.iban.evidence
    assert (invoice.iban.box or (0,))[0] == pytest.approx(95 / WIDTH, abs=1e-3)
    assert (invoice.vendor_name.evidence, invoice.vendor_name.box) == ((Evidence.ON_PAGE,), None)


def test_unstorable_characters_are_left_out() -> None:
    invoice = read_answer(answer_of(vendor_name="Muster\x00 \ud800GmbH", invoice_number="\x00"), model="m")
    assert invoice.vendor_name.value == "Muster GmbH"
    assert invoice.invoice_number.value is None


def test_of_a_value_that_stands_everywhere_a_few_places_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def counted(text: str) -> str:
        looks.append(text)
        return squeeze(text)

    monkeypatch.setattr(gemini_check, "squeeze", counted)
    invoice = checked(answer_of(invoice_number="1"), page("1 " * 200))
    assert invoice.invoice_number.evidence == (Evidence.ON_PAGE,)
    assert 1 < len(looks) <= 1 + gemini_check.MOST_PLACES


def test_checking_changes_no_value() -> None:
    reported_here, other = (
        read_answer(answer_of(total="119.00"), model="m"),
        read_answer(answer_of(total="120.00"), model="m"),
    )
    found = check_on_pages(other, {}, [page("120,00")])
    total = with_findings(reported_here, found).total
    assert (total.value, total.evidence, total.box) == (Decimal("119.00"), (Evidence.ON_PAGE,), found.total.box)


@pytest.mark.parametrize(("number", "page"), [(3, 3), (0, None), (-1, None), (99_999_999_999, None), (None, None)])
def test_a_page_that_no_document_has_is_left_out(number: int | None, page: int | None) -> None:
    answer = answer_of(total="119.00")
    answer.total.page = number
    invoice = read_answer(answer.model_copy(update={"line_items": [WireLine(page=number)]}), model="m")
    assert (invoice.total.page, invoice.line_items[0].page) == (page, page)


def test_an_invented_value_has_less_confidence() -> None:
    invoice = checked(
        answer_of(total="999.99", invoice_number="X-77", currency="EUR"), page("Rechnung R-1", "119,00 €")
    )
    assert invoice.total.evidence == invoice.invoice_number.evidence == (Evidence.NOT_ON_PAGE,)
    assert invoice.currency.evidence == (), "printed as a sign as often"
    sure = assess(checked(answer_of(total="119.00"), page("119,00 €")), TODAY).total.confidence
    assert assess(invoice, TODAY).total.confidence < 0.4
    assert sure > 0.9


def test_words_that_an_ocr_read_speak_for_a_value_and_not_against_it() -> None:
    invoice = checked(answer_of(total="119.00", net="100.00"), page("119,00", "1OO,OO", score=0.8))
    assert (invoice.total.evidence, invoice.net.evidence) == ((Evidence.ON_PAGE,), ())


def test_without_words_nothing_is_said() -> None:
    answer = answer_of(total="119.00")
    assert checked(answer) == checked(answer, Page(1, WIDTH, HEIGHT, ())) == read_answer(answer, model="m")


@pytest.mark.parametrize(("own", "most"), [(1.0, 0.95), (7.0, 0.95), (0.5, 0.5), (-1.0, 0.0), (None, None)])
def test_the_models_own_word_counts_for_so_much_and_no_more(own: float | None, most: float | None) -> None:
    answer = answer_of(total="119.00")
    answer.total.confidence = own
    assert read_answer(answer, model="m").total.word_score == most


def test_the_fake_answers_what_the_local_readers_found() -> None:
    found = FieldValue[Decimal](value=Decimal("119.00"), source=Source.TEXT_LABEL, page=2)
    wire = wire_of(InvoiceData(total=found, total_adjustment=Decimal("0.50")))
    again = read_answer(WireInvoice.model_validate_json(wire.model_dump_json()), model="m")
    assert (again.total.value, again.total.page, again.total_adjustment) == (Decimal("119.00"), 2, Decimal("0.50"))
    assert again.invoice_number.value is None
