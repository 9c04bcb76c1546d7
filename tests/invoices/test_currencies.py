"""Amounts may be as far apart as rounding in their currency carries them, and no farther."""

from decimal import Decimal

import pytest

from docrail.invoices.assessment.checks import check
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, LineItem, TaxPart
from docrail.invoices.values.currencies import CASH_STEPS, CURRENCIES, THOUSANDTHS, WHOLE, tolerance, total_agrees
from docrail.invoices.values.numbers import find_amounts
from tests.invoices.test_checks import TODAY, field, sound


def test_the_tables_name_currencies_that_exist() -> None:
    assert WHOLE | THOUSANDTHS | CASH_STEPS.keys() <= CURRENCIES


@pytest.mark.parametrize(
    ("currency", "expected", "total", "agrees"),
    [
        ("EUR", "119.00", "119.02", True),
        ("EUR", "119.00", "119.03", False),
        (None, "119.00", "119.03", False),
        ("JPY", "1000", "1002", True),  # two roundings to a yen
        ("JPY", "1000", "1003", False),
        ("KWD", "119.000", "119.002", True),  # two roundings to a fils
        ("KWD", "119.000", "119.003", False),
        ("CHF", "10.02", "10.00", True),
        ("CHF", "10.07", "10.05", True),
        ("CHF", "10.01", "10.05", False),  # the nearest is 10.00
        ("CZK", "1210.45", "1210", True),
        ("CZK", "1210.45", "1211", False),
        ("CZK", "1210.45", "1210.10", False),  # not rounded to anything
        ("SEK", "99.51", "100.00", True),
        ("NOK", "99.51", "100.00", True),
        ("DKK", "99.51", "100.00", False),
        ("HUF", "12698", "12700", True),
        ("HUF", "12696", "12700", False),
        ("SEK", "-99.51", "-100.00", True),  # a credit note
    ],
)
def test_a_total_may_be_rounded_as_its_currency_is(
    currency: str | None, expected: str, total: str, agrees: bool
) -> None:
    assert total_agrees(Decimal(expected), Decimal(total), currency) is agrees


def test_more_lines_may_be_rounded_more_often() -> None:
    assert [tolerance(currency, roundings=5) for currency in ("EUR", "JPY")] == [Decimal("0.05"), Decimal(5)]


def of(currency: str, net: str, tax: str, total: str, *lines: str, rate: str = "27") -> list[str]:
    """Return the codes of what is wrong with an invoice of one rate."""
    invoice = sound(
        currency=field(currency),
        net=field(Decimal(net)),
        tax=field(Decimal(tax)),
        total=field(Decimal(total)),
        line_items=tuple(LineItem(amount=Decimal(line)) for line in lines),
        tax_parts=(TaxPart(rate=Decimal(rate), base=Decimal(net), tax=Decimal(tax)),),
    )
    return [problem.code for problem in check(invoice, TODAY)]


def test_a_tax_in_whole_forints_is_right() -> None:
    assert of("HUF", "10001.50", "2700", "12701", "5000.75", "5000.75") == []
    assert of("EUR", "10001.50", "2700", "12701.50") == ["tax_disagrees"]


def test_a_tax_in_whole_yen_is_right_however_it_was_rounded() -> None:
    for tax in ("123", "124"):
        assert of("JPY", "1234", tax, str(1234 + int(tax)), rate="10") == []
    assert of("JPY", "1234", "130", "1364", rate="10") == ["tax_disagrees"]


def test_a_total_in_whole_korunas_is_right() -> None:
    assert of("CZK", "1000.37", "210.08", "1210", rate="21") == []
    assert of("CZK", "1000.37", "210.08", "1212", rate="21") == ["totals_disagree"]


@pytest.mark.parametrize(
    ("printed", "amount"),
    [
        ("KWD 1.250", "1.250"),
        ("1,250 TND", "1.250"),
        ("1,250 KWD", "1250"),
        ("BHD 12,500", "12500"),
        ("OMR 0,250", "0.250"),
        ("TND 1.234,567", "1234.567"),
        ("OMR 1,234.567", "1234.567"),
        ("1.250 EUR", "1250"),
    ],
)
def test_three_decimals_are_no_thousands_where_a_currency_has_them(printed: str, amount: str) -> None:
    assert [found.value for found in find_amounts(printed)] == [Decimal(amount)]


@pytest.mark.parametrize(
    ("total", "source", "unsure"),
    [
        ("105000", Source.TEXT_LABEL, True),
        ("105000", Source.HUMAN, False),
        ("105000", Source.XML, False),
        ("105.000", Source.TEXT_LABEL, False),
        ("1050.000", Source.TEXT_LABEL, False),
    ],
)
def test_a_total_in_dinars_without_decimals_is_doubted(total: str, source: Source, *, unsure: bool) -> None:
    amount: FieldValue[Decimal] = FieldValue(value=Decimal(total), source=source)
    invoice = sound(currency=field("KWD"), net=amount, tax=field(Decimal(0)), total=amount)
    assert ("decimals_unsure" in [problem.code for problem in check(invoice, TODAY)]) is unsure
