"""An invoice in each supported language is read by the words of its file; the language is known by them too."""

import datetime as dt

import pytest

from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.readers.header.language import language_of
from docrail.invoices.readers.read import read_layout
from tests.invoices.languages import DOCS
from tests.invoices.layouts import layout

EXPECTED = {
    "pl": (
        "Meble Kowalski Sp. z o.o.",
        "Firma Nowak S.A.",
        "FV/12/2026",
        "17",
        "1000.00 230.00 1230.00 PLN",
        "PL5260250274",
    ),
    "pt": ("Casa Silva, Lda.", "Empresa Costa SA", "FT 2026/12", "17", "1000.00 230.00 1230.00 EUR", "PT501964843"),
    "sv": ("Möbler Nord AB", "Köparen AB", "1234", "2", "1000.00 250.00 1250.00 SEK", "SE556000000001"),
    "da": ("Møbler Nord ApS", "Køberen A/S", "1234", "2", "1000.00 250.00 1250.00 DKK", "DK13585628"),
    "no": ("Møbler Nord AS", "Kjøperen AS", "1234", "2", "1000.00 250.00 1250.00 NOK", None),
    "fi": ("Huonekalut Pohjola Oy", "Virtanen Oy", "1234", "2", "1000.00 255.00 1255.00 EUR", "FI20774740"),
    "cs": ("Nábytek Novák s.r.o.", "Svoboda a.s.", "20260012", "17", "1000.00 210.00 1210.00 CZK", "CZ25123891"),
    "tr": (
        "Mobilya Ticaret A.Ş.",
        "Y\u0131ld\u0131z Ltd. Şti.",
        "ABC2026000000012",
        "17",
        "1000.00 200.00 1200.00 TRY",
        None,
    ),
}
DAYS = {"17": dt.date(2026, 3, 17), "2": dt.date(2026, 4, 2)}


@pytest.mark.parametrize("code", DOCS)
def test_an_invoice_is_read_by_the_words_of_its_language(code: str) -> None:
    vendor, buyer, number, due, sums, vat_id = EXPECTED[code]
    invoice = read_layout(layout(DOCS[code]))
    assert (invoice.vendor_name.value, invoice.buyer_name.value) == (vendor, buyer)
    assert (invoice.invoice_number.value, invoice.date.value) == (number, dt.date(2026, 3, 3))
    assert invoice.due_date.value == DAYS[due]
    amounts = (invoice.net, invoice.tax, invoice.total, invoice.currency)
    assert " ".join(str(each.value) for each in amounts) == sums
    assert invoice.vendor_vat_id.value == vat_id
    assert len(invoice.line_items) == 1


@pytest.mark.parametrize("code", DOCS)
def test_the_language_is_known_by_its_words(code: str) -> None:
    language = language_of(layout(DOCS[code]))
    assert language is not None
    assert language.code == code


def test_a_name_of_a_month_is_the_same_month_in_every_language() -> None:
    months: dict[str, int] = {}
    for language in LANGUAGES:
        assert len(language.months) == 12, language.code
        for month, names in enumerate(language.months, start=1):
            for name in names.split():
                assert months.setdefault(name, month) == month, (language.code, name)
