"""Day-first or month-first follows what the document says; where both fit, both are candidates."""

import datetime as dt

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.explanation import explain
from docrail.invoices.facts import Evidence
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.read import read_layout, read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, page

TODAY = dt.date(2026, 11, 1)
APRIL, MARCH = dt.date(2026, 4, 3), dt.date(2026, 3, 4)


def read(*lines: str) -> InvoiceData:
    """Return the reading of a page with these lines."""
    return assess(read_layout(layout([(50, 50 + 14 * row, line) for row, line in enumerate(lines)])), TODAY)


@pytest.mark.parametrize("address", ["London", "New York, NY 10001, USA"])
def test_where_both_orders_fit_both_are_candidates_and_neither_is_trusted(address: str) -> None:
    date = read("Muster Ltd", address, "Invoice No: 4711", "Date: 03/04/2026").date
    assert {candidate.value for candidate in date.candidates} == {APRIL, MARCH}
    assert date.value in (APRIL, MARCH)
    assert date.confidence <= 0.6
    assert explain(date, "date")[-1].what == "either_date"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("Date: 03/04/2026", "Due date: 04/17/2026"), MARCH),
        (("Date: 03/04/2026", "Due date: 17/04/2026"), APRIL),
        (("Date: 03/04/2026", "Due date: 04/03/2026"), MARCH),
        (("Date: 03/04/2026", "Due date: 03/05/2026", "Terms: 30 days net"), APRIL),
        (("Date: 03/04/2026", "Delivered with our note of 3 April 2026"), APRIL),
        (("Date : 03/04/2026", "Montant total des prix pour votre paiement et la quantité"), APRIL),
    ],
    ids=["another date", "the other order", "due after issue", "the term", "the month's name", "the language"],
)
def test_the_document_shows_which_comes_first(lines: tuple[str, ...], expected: dt.date) -> None:
    date = read("Muster Ltd, New York, NY 10001", "Invoice No: 4711", *lines).date
    assert (date.value, Evidence.AMBIGUOUS_DATE in date.evidence) == (expected, False)


@pytest.mark.parametrize(
    ("term", "days"),
    [
        ("14 days net", 14),
        ("Zahlbar innerhalb 10 Tagen mit 2 % Skonto (46,81 EUR) oder innerhalb 30 Tagen ohne Abzug.", 30),
        ("Payment terms: Net 30", 30),
        ("Zahlbar innerhalb von 14 Tagen ohne Abzug", 14),
        ("10 Tage 2 % Skonto, 30 Tage netto", 30),
        ("Paiement à 30 jours", 30),
        ("Betaling binnen 14 dagen", 14),
        ("Pago a 30 días", 30),
        ("Pagamento a 60 giorni data fattura", 60),
        ("Termin płatności: 21 dni", 21),
        ("Betalas inom 30 dagar", 30),
        ("Maksuehto 14 pv netto", 14),
        ("Splatnost 14 dní", 14),
        ("Graag binnen twee weken overmaken", 14),
        ("Payment within two weeks", 14),
        ("Zahlbar innerhalb von zwei Wochen", 14),
        ("Zahlbar binnen vierzehn Tagen", 14),
        ("À payer sous quinze jours", 15),
        ("Pago en quince días", 15),
        ("Pagamento entro trenta giorni", 30),
        ("Please pay within 3 weeks", 21),
    ],
)
def test_a_payment_term_gives_the_due_date_with_the_term_as_its_place(term: str, days: int) -> None:
    due = read("Muster Ltd", "Invoice No: 4711", "Date: 3 April 2026", term).due_date
    assert due.value == APRIL + dt.timedelta(days=days)
    assert Evidence.FROM_PAYMENT_TERM in due.evidence
    assert due.page == 1
    assert due.box is not None
    assert round(due.box[1], 2) == round((50 + 3 * 14) / 842, 2), "the line of the term"


@pytest.mark.parametrize(
    "line",
    [
        "Goods may be returned within 14 days",
        "Payment within 14 days of receipt",
        "Paiement à 30 jours fin de mois",
        "2 % discount if paid within 10 days",
        "Payment due in 14 days. Net 30 for others, payable in 30 days",
        "Interest is due on late payment after 30 days",
        "Please pay within twenty eight days",
        "Betaald? Binnen zes weken kunt u bezwaar maken",
    ],
)
def test_other_periods_give_no_due_date(line: str) -> None:
    assert read("Muster Ltd", "Invoice No: 4711", "Date: 3 April 2026", line).due_date.value is None


def boxed(caption: str, term: str) -> dt.date | None:
    head: list[Line] = [(50, 40, "Muster Ltd"), (50, 54, "Invoice No: 4711"), (50, 68, "Date: 3 April 2026")]
    box: list[Line] = [(400, 100, caption), (50, 106, "12 High Street"), (400, 112, term)]
    return read_text([page([*head, *box])]).due_date.value


@pytest.mark.parametrize("caption", ["Terms of Payment", "Mode/Terms of Payment", "Zahlungsziel:", "Forma de pago"])
def test_a_term_may_be_below_its_caption(caption: str) -> None:
    assert boxed(caption, "15 days") == APRIL + dt.timedelta(days=15)


@pytest.mark.parametrize(
    "caption", ["Plazo de entrega", "Plazo de ejecución", "Rental terms", "Account", "Amounts due", "Contact"]
)
def test_a_term_below_another_caption_is_none_of_payment(caption: str) -> None:
    assert boxed(caption, "15 dias") is None


@pytest.mark.parametrize(
    ("label", "days"),
    [("Zahlungsziel ohne Skonto", 15), ("Payment due at the latest within", 15), ("Plazo de entrega:", None)],
)
def test_the_label_before_a_term_says_whether_it_is_one_of_payment(label: str, days: int | None) -> None:
    lines = [
        (50, 40, "Muster Ltd"),
        (50, 54, "Date: 3 April 2026"),
        (50, 68, label),
        (250, 68, "15 days"),
    ]
    assert read_text([page(lines)]).due_date.value == (APRIL + dt.timedelta(days=days) if days else None)


def test_an_appointment_is_not_the_date_of_a_letter() -> None:
    head: list[Line] = [(50, 40, "Invoice #2025-0673"), (480, 42, "June 23, 2025")]
    event: list[Line] = [(300, 100, "Event:"), (300, 114, "Saturday, June 21, 2025, 11:00 a.m. - 5:00 p.m.")]
    assert read_text([page([*head, *event])]).date.value == dt.date(2025, 6, 23)


def test_a_printed_due_date_counts_more_than_a_term() -> None:
    due = read("Muster Ltd", "Invoice No: 4711", "Date: 3 April 2026", "14 days net", "Due: 20 April 2026").due_date
    assert (due.value, Evidence.FROM_PAYMENT_TERM in due.evidence) == (dt.date(2026, 4, 20), False)


def test_a_month_without_its_last_letter_is_one() -> None:
    assert read("Muster SARL", "Facture n° 12", "Date : 3 aoû 2026").date.value == dt.date(2026, 8, 3)
