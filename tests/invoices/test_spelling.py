"""Garbled labels are recognized where no label was found, and never change what an exact one names."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.facts import Source
from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.languages.language import Language
from docrail.invoices.readers.layout.spelling import label_like, spelled
from docrail.invoices.readers.read import read_layout
from tests.invoices.layouts import layout, table

GARBLED = [
    (50, 50, "Muster GmbH"),
    (50, 130, "Rechnurgsnummer: 77"),
    (50, 144, "Rechnungsdaturn: 3. März 2026"),
    (50, 158, "Fälligkoit: 3. April 2026"),
    *table("Nottobetrag|1.500,00", "MwSt 19%|285,00", "Gesamtbotrag|1.785,00", top=320, edges=(300, 480)),
]


@pytest.mark.parametrize(
    ("printed", "meant"),
    [
        ("Rechnurgsnummer", "rechnungsnummer"),  # a wrong letter
        ("Rechnngsnummer", "rechnungsnummer"),  # a missing one
        ("Gesammtbetrag", "gesamtbetrag"),  # an additional one
        ("lnvioce", "invoice"),  # a displaced one
        ("Rechnungsdaturn", "rechnungsdatum"),  # letters that look alike
        ("Tota1", "total"),
        ("Invoice", None),  # known
        ("facturo", None),  # of two languages
        ("Prices", None),  # an ending
        ("Prince", None),
        ("Datun", None),  # too short
    ],
)
def test_a_word_is_corrected_if_one_label_is_like_it(printed: str, meant: str | None) -> None:
    assert label_like(printed) == meant


def test_values_at_garbled_labels_are_found_and_not_called_labelled() -> None:
    read = read_layout(layout(GARBLED))
    assert (read.invoice_number.value, read.invoice_number.source) == ("77", Source.TEXT_PATTERN)
    assert (read.date.value, read.due_date.value) == (dt.date(2026, 3, 3), dt.date(2026, 4, 3))
    assert [read.net.value, read.tax.value, read.total.value] == [Decimal(1500), Decimal(285), Decimal(1785)]


def test_an_exact_label_is_not_overruled() -> None:
    read = read_layout(layout([*GARBLED, (50, 172, "Rechnung Nr. 78")]))
    assert (read.invoice_number.value, read.invoice_number.source) == ("78", Source.TEXT_LABEL)


def test_a_word_that_is_printed_often_is_another_word() -> None:
    lines = [(50, 50 + 14 * row, f"Beitrag {row}") for row in range(3)]
    assert spelled(layout(lines[:2])) is not None
    assert spelled(layout(lines)) is None


def test_pages_without_garbled_words_are_not_read_again() -> None:
    assert spelled(layout([(50, 50, "Invoice number: 77"), (50, 64, "Total 15.00")])) is None


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_every_printed_word_begins_like_one_of_a_label(language: Language) -> None:
    patterns = " ".join([*language.titles, *(pattern for own in language.labels.values() for pattern in own)])
    assert [word for word in language.printed.split() if word[:3] not in patterns] == []
