"""Amounts and dates are read as people of six languages write them."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.values.dates import find_dates, month_comes_first
from docrail.invoices.values.folding import fold
from docrail.invoices.values.numbers import find_amounts, parse_number

CENTS = st.integers(0, 99_999_999_999)
DATES = st.dates(dt.date(2000, 1, 1), dt.date(2069, 12, 31))
MONTHS = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
    "fr": [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    "nl": [
        "januari",
        "februari",
        "maart",
        "april",
        "mei",
        "juni",
        "juli",
        "augustus",
        "september",
        "oktober",
        "november",
        "december",
    ],
    "es": [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    "it": [
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ],
}


def grouped(cents: int, thousands: str, decimal: str) -> str:
    return f"{cents // 100:,}".replace(",", thousands) + f"{decimal}{cents % 100:02}"


@pytest.mark.parametrize(
    ("thousands", "decimal"), [(".", ","), (",", "."), (" ", ","), ("'", "."), ("", "."), ("", ",")]
)
@given(cents=CENTS)
def test_amounts_survive_every_way_of_writing(thousands: str, decimal: str, cents: int) -> None:
    written = grouped(cents, thousands, decimal)
    found = list(find_amounts(f"Total: {written} EUR"))
    assert [amount.value for amount in found] == [Decimal(cents) / 100]
    assert found[0].currency == "EUR"
    assert found[0].exact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("€ -9,32", "-9.32"),
        ("-$5.00", "-5.00"),
        ("12.00-", "-12.00"),
        ("CHF 250.-", "250"),
        ("Rs 1939", "1939"),
        ("1,23,456.00", "123456.00"),
        ("(1,234.00)", "-1234.00"),
        ("(35,13 €)", "-35.13"),
        ("($840.00)", "-840.00"),
        ("USD (12.00)", "-12.00"),
        ("(12.00) USD", "-12.00"),
        ("(-12.00)", "-12.00"),
        ("1,234.00 (", "1234.00"),
        ("1,234.00 )", "1234.00"),
        ("1,234.00)", "1234.00"),
        ("(1,234.00", "1234.00"),
        ("Skonto (288,52 EUR)", "288.52"),
        ("(12.00 a month)", "12.00"),
        ("Tax 15% on $ 112.90", "112.90"),
        ("10 000€", "10000"),
        ("1.234", "1234"),
        ("0,052", "0.052"),
        ("C$ 3.50", "3.50"),
    ],
)
def test_signs_and_currencies(text: str, expected: str) -> None:
    assert [amount.value for amount in find_amounts(text)] == [Decimal(expected)]


@pytest.mark.parametrize(
    "text", ["19 %", "15.00%", "05.08.2013", "12:30", "DE123456789", "x14", "1.2.3.4", "A-17", "#12"]
)
def test_texts_that_are_not_amounts(text: str) -> None:
    assert list(find_amounts(text)) == []


def test_two_amounts_in_one_cell_are_two() -> None:
    assert [str(amount.value) for amount in find_amounts("102,00 306,00")] == ["102.00", "306.00"]


@given(st.text(max_size=80))
def test_any_text_can_be_searched(text: str) -> None:
    for amount in find_amounts(text):
        assert 0 <= amount.start < amount.end <= len(text)
    for date in find_dates(text):
        assert 0 <= date.start < date.end <= len(text)
    assert len(fold(text)) == len(text)


@given(st.text("0123456789.,' ", min_size=1, max_size=30))
def test_a_number_is_read_or_refused_never_mangled(digits: str) -> None:
    number = parse_number(digits)
    assert number is None or number >= 0


@pytest.mark.parametrize("pattern", ["%Y-%m-%d", "%d.%m.%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%Y"])
@given(date=DATES)
def test_numeric_dates(pattern: str, date: dt.date) -> None:
    assert [found.value for found in find_dates(date.strftime(pattern))] == [date]


@given(date=DATES)
def test_american_dates(date: dt.date) -> None:
    found = next(find_dates(date.strftime("%m/%d/%Y"), month_first=True))
    assert found.value == date
    assert found.ambiguous == (date.day <= 12 and date.day != date.month)


def test_with_dots_the_day_comes_first_whatever_the_others_of_the_document_do() -> None:
    [found] = find_dates("03.04.2024", month_first=True)
    assert found.value == dt.date(2024, 4, 3)


@pytest.mark.parametrize(
    ("text", "month"),
    [("12 aoû 2026", 8), ("3 septem 2026", 9), ("12 juill. 2026", 7), ("1 sierp 2026", 8), ("Octob. 5, 2026", 10)],
)
def test_months_may_be_cut_off(text: str, month: int) -> None:
    assert [found.value.month for found in find_dates(text)] == [month]


@pytest.mark.parametrize(
    "text", ["18 June '26", "18th day of June 2026", "18e juni 2026", "18 / 06 / 2026", "18-Jun-26"]
)
def test_dates_may_have_more_signs(text: str) -> None:
    assert [found.value for found in find_dates(text)] == [dt.date(2026, 6, 18)]


def test_a_name_cut_to_the_start_of_two_months_is_none() -> None:
    assert not list(find_dates("12 jui 2026"))


@pytest.mark.parametrize("language", MONTHS)
@given(date=DATES)
def test_written_months(language: str, date: dt.date) -> None:
    month = MONTHS[language][date.month - 1]
    written = {"en": f"{month} {date.day}, {date.year}", "es": f"{date.day} de {month} de {date.year}"}
    text = written.get(language, f"{date.day}. {month} {date.year}")
    assert [found.value for found in find_dates(text)] == [date]


@pytest.mark.parametrize("text", ["31.02.2024", "00.01.2024", "2024-13-01", "1.2.3", "99.99.9999"])
def test_days_that_do_not_exist(text: str) -> None:
    assert list(find_dates(text)) == []


def test_a_document_shows_its_own_order_of_day_and_month() -> None:
    assert month_comes_first(["03/20/2023", "04/04/2023"])
    assert month_comes_first(["20/03/2023", "04/04/2023"]) is False
    assert month_comes_first(["04/04/2023"]) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("R19,876.26", "19876.26"), ("R19 876,26", "19876.26"), ("-R50.00", "-50.00"), ("R12 50.00", "50.00")),
        *(("R95", None), ("Radius R2,50", None), ("R2026.05", "2026.05"), ("R1.14-2", None)),
    ],
)
def test_an_r_may_touch_an_amount_that_is_alone_and_names_no_currency(text: str, value: str | None) -> None:
    assert [(str(amount.value), amount.currency) for amount in find_amounts(text)] == ([(value, None)] if value else [])
