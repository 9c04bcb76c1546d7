"""An invoice in each supported language is read by the words of its file; the language is known by them too."""

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pytest

from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.languages.language import Label
from docrail.invoices.readers.header.language import language_of
from docrail.invoices.readers.read import read_layout
from tests.invoices.languages import DOCS
from tests.invoices.layouts import layout

HUNGARIAN = """
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="hu",
    titles=("szamla",),
    months=("januar", "februar", "marcius", "aprilis", "majus", "junius", "julius", "augusztus", "szeptember",
            "oktober", "november", "december"),
    common="es szamla datum osszesen fizetendo",
    printed="szamla szamlaszam datuma osszesen fizetendo",
    days="nap",
    paying="fizet\\w+",
    labels={
        Label.NUMBER: ("szamlaszam",),
        Label.ISSUE_DATE: ("kiallitas datuma",),
        Label.NET: ("netto osszesen",),
        Label.TAX: ("afa",),
        Label.TOTAL: ("fizetendo",),
    },
)
"""
PLANTED = """
import sys
from docrail.invoices import languages
languages.__path__.append(sys.argv[1])
from docrail.invoices.readers.read import read_layout
from tests.invoices.layouts import layout
sums = (f"{line},00" for line in ("Nettó összesen: 100", "ÁFA: 27", "Fizetendő: 127"))
lines = ("Számlaszám: 77", "Kiállítás dátuma: 3 március 2026", *sums)
invoice = read_layout(layout([(50, 50 + 20 * row, line) for row, line in enumerate(lines)]))
print(invoice.invoice_number.value, invoice.date.value, invoice.net.value, invoice.tax.value, invoice.total.value)
"""

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


def test_another_language_is_one_more_file(tmp_path: Path) -> None:
    (tmp_path / "hu.py").write_text(HUNGARIAN, "utf-8")
    read = subprocess.run([sys.executable, "-c", PLANTED, str(tmp_path)], capture_output=True, text=True, check=True)
    assert read.stdout.split() == ["77", "2026-03-03", "100.00", "27.00", "127.00"]


def test_every_language_knows_the_labels_of_an_invoice() -> None:
    needed = {Label.NUMBER, Label.ISSUE_DATE, Label.DUE_DATE, Label.TOTAL, Label.NET, Label.TAX, Label.BUYER}
    assert {language.code for language in LANGUAGES if needed - set(language.labels)} == set()
