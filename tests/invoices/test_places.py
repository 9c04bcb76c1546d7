"""A known value is found on the page however it is set, and never inside another one."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.readers.layout.page import Page, Word, lay_out
from docrail.invoices.readers.layout.places import Places


def places_in(*rows: str) -> Places:
    """Return a page with these rows, its words 10 points wide."""
    words = [
        Word(text, 10.0 * x, 20.0 * y, 10.0 * x + 9, 20.0 * y + 10)
        for y, row in enumerate(rows)
        for x, text in enumerate(row.split())
    ]
    return Places(lay_out([Page(1, 200.0, 400.0, tuple(words))]))


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("RE-2026/17", "Number: RE 2026 17"),
        ("RE-1", "(RE-1)"),
        ("DE02120300000000202051", "IBAN: DE02 1203 0000 0000 2020 51"),
        ("DE02120300000000202051", "IBANDE02120300000000202051"),
        ("Müller & Söhne GmbH", "Fa. MULLER SOHNE GMBH Berlin"),
        (Decimal("1234.50"), "Total: 1.234,50 EUR"),
        (Decimal("1234.50"), "Total: -1,234.50"),
        (dt.date(2026, 3, 2), "Date: 2. März 2026"),
        (dt.date(2026, 3, 2), "03/02/2026"),
    ],
)
def test_a_value_is_found_however_it_is_set(value: str | Decimal | dt.date, row: str) -> None:
    places = places_in("Something else", row)
    (place,) = places.of(value)
    assert place.row_text == row
    assert place.box[1] == 20 / 400
    assert places.mention(value)


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("RE-1", "RE-10"),
        ("RE-1", "ARE-1"),
        ("1", "10 21 A1"),
        ("DE02120300000000202051", "DE021203000000002020511"),
        (Decimal("12.50"), "112.50"),
        (dt.date(2026, 3, 2), "2026-03-20"),
        ("", "anything"),
        ("---", "---"),
        ("x" * 300, "x" * 300),
    ],
)
def test_a_value_is_not_found_inside_another(value: str | Decimal | dt.date, row: str) -> None:
    places = places_in(row)
    assert list(places.of(value)) == []
    assert not places.mention(value)


def test_the_box_is_that_of_the_words() -> None:
    (place,) = places_in("IBAN: DE02 1203 0000 0000 2020 51 BIC").of("DE02120300000000202051")
    assert place.box == (10 / 200, 0.0, 69 / 200, 10 / 400)


def test_a_long_value_over_two_rows_is_mentioned_without_a_place() -> None:
    places = places_in("Musterhafter Versicherungs-", "verein Musterstadt a.G.")
    assert list(places.of("Musterhafter Versicherungsverein Musterstadt")) == []
    assert places.mention("Musterhafter Versicherungsverein Musterstadt")
