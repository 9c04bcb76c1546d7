"""An invoice in each supported language is read by the words of its file; the language is known by them too."""

import datetime as dt

import pytest

from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.readers.header.language import language_of
from docrail.invoices.readers.read import read_layout
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, table

DOCS: dict[str, list[Line]] = {
    "pl": [
        (50, 50, "Sprzedawca:"),
        (50, 64, "Meble Kowalski Sp. z o.o."),
        (50, 78, "ul. Polna 1, 00-001 Warszawa"),
        (50, 92, "NIP: 5260250274"),
        (300, 50, "Nabywca:"),
        (300, 64, "Firma Nowak S.A."),
        (300, 78, "ul. Leśna 2, 30-001 Kraków"),
        (50, 130, "Faktura VAT nr FV/12/2026"),
        (50, 144, "Data wystawienia: 3 marca 2026"),
        (50, 158, "Data sprzedaży: 2026-03-01"),
        (50, 172, "Termin płatności: 17.03.2026"),
        *table("Nazwa towaru lub usługi|Ilość|Cena netto|Wartość netto", "Krzesło|2|500,00|1 000,00", top=250),
        *table("Razem netto|1 000,00 zł", "VAT 23%|230,00 zł", "Do zapłaty|1 230,00 zł", top=320, edges=(300, 480)),
    ],
    "pt": [
        (50, 50, "Casa Silva, Lda."),
        (50, 64, "Rua Nova 1, 1000-001 Lisboa"),
        (50, 78, "Contribuinte: 501964843"),
        (300, 50, "Exmo(s). Sr(s)."),
        (300, 64, "Empresa Costa SA"),
        (300, 78, "Av. Central 2, 4000-001 Porto"),
        (50, 130, "Fatura n.º FT 2026/12"),
        (50, 144, "Data de emissão: 3 de março de 2026"),
        (50, 158, "Vencimento: 17/03/2026"),
        *table("Descrição|Quantidade|Preço unit.|Valor", "Cadeira|2|500,00|1.000,00", top=250),
        *table("Total sem IVA|1.000,00 €", "IVA 23%|230,00 €", "Total a pagar|1.230,00 €", top=320, edges=(300, 480)),
    ],
    "sv": [
        (50, 50, "Möbler Nord AB"),
        (50, 64, "Storgatan 1, 111 22 Stockholm"),
        (300, 50, "Kund:"),
        (300, 64, "Köparen AB"),
        (50, 130, "Faktura"),
        (50, 144, "Fakturanummer: 1234"),
        (50, 158, "Fakturadatum: 2026-03-03"),
        (50, 172, "Förfallodatum: 2026-04-02"),
        *table("Benämning|Antal|Pris|Belopp", "Stol|2|500,00|1 000,00", top=250),
        *table("Netto|1 000,00", "Moms 25%|250,00", "Att betala SEK|1 250,00", top=320, edges=(300, 480)),
        (50, 800, "Momsreg.nr SE556000000001"),
    ],
    "da": [
        (50, 50, "Møbler Nord ApS"),
        (50, 64, "Storgade 1, 1000 København"),
        (50, 78, "CVR-nr. 13585628"),
        (300, 50, "Kunde:"),
        (300, 64, "Køberen A/S"),
        (50, 130, "Faktura"),
        (50, 144, "Fakturanr.: 1234"),
        (50, 158, "Fakturadato: 3. marts 2026"),
        (50, 172, "Forfaldsdato: 02.04.2026"),
        *table("Beskrivelse|Antal|Pris|Beløb", "Stol|2|500,00|1.000,00", top=250),
        *table("Subtotal|1.000,00", "Moms 25%|250,00", "I alt at betale DKK|1.250,00", top=320, edges=(300, 480)),
    ],
    "no": [
        (50, 50, "Møbler Nord AS"),
        (50, 64, "Storgata 1, 0150 Oslo"),
        (50, 78, "Org.nr. 987 654 321 MVA"),
        (300, 50, "Kunde:"),
        (300, 64, "Kjøperen AS"),
        (50, 130, "Faktura"),
        (50, 144, "Fakturanr.: 1234"),
        (50, 158, "Fakturadato: 3. mars 2026"),
        (50, 172, "Forfallsdato: 02.04.2026"),
        *table("Beskrivelse|Antall|Pris|Beløp", "Stol|2|500,00|1 000,00", top=250),
        *table("Sum eks. mva|1 000,00", "MVA 25%|250,00", "Å betale NOK|1 250,00", top=320, edges=(300, 480)),
    ],
    "fi": [
        (50, 50, "Huonekalut Pohjola Oy"),
        (50, 64, "Katu 1, 00100 Helsinki"),
        (50, 78, "Y-tunnus: 2077474-0"),
        (300, 50, "Asiakas:"),
        (300, 64, "Virtanen Oy"),
        (50, 130, "LASKU"),
        (50, 144, "Laskun numero: 1234"),
        (50, 158, "Laskun päiväys: 3. maaliskuuta 2026"),
        (50, 172, "Eräpäivä: 2.4.2026"),
        *table("Kuvaus|Määrä|Hinta|Summa", "Tuoli|2|500,00|1 000,00", top=250),
        *table(
            "Veroton summa|1 000,00 €",
            "ALV 25,5 %|255,00 €",
            "Maksettava yhteensä|1 255,00 €",
            top=320,
            edges=(300, 480),
        ),
    ],
    "cs": [
        (50, 50, "Dodavatel:"),
        (50, 64, "Nábytek Novák s.r.o."),
        (50, 78, "Dlouhá 1, 110 00 Praha"),
        (50, 92, "DIČ: CZ25123891"),
        (300, 50, "Odběratel:"),
        (300, 64, "Svoboda a.s."),
        (50, 130, "Faktura - daňový doklad č. 20260012"),
        (50, 144, "Datum vystavení: 3. března 2026"),
        (50, 158, "Datum splatnosti: 17.3.2026"),
        *table("Popis|Množství|Cena|Celkem", "Židle|2|500,00|1 000,00", top=250),
        *table("Základ daně|1 000,00", "DPH 21 %|210,00", "Celkem k úhradě|1 210,00 Kč", top=320, edges=(300, 480)),
    ],
    "tr": [
        (50, 50, "Mobilya Ticaret A.Ş."),
        (50, 64, "Atatürk Cad. 1, 34000 İstanbul"),
        (50, 78, "VKN: 1234567890"),
        (300, 50, "Say\u0131n"),
        (300, 64, "Y\u0131ld\u0131z Ltd. Şti."),
        (50, 130, "Fatura No: ABC2026000000012"),
        (50, 144, "Fatura Tarihi: 3 Mart 2026"),
        (50, 158, "Vade: 17.03.2026"),
        *table("Aç\u0131klama|Miktar|Birim Fiyat|Tutar", "Sandalye|2|500,00|1.000,00", top=250),
        *table(
            "Ara Toplam|1.000,00 TL",
            "Hesaplanan KDV %20|200,00 TL",
            "Ödenecek Tutar|1.200,00 TL",
            top=320,
            edges=(300, 480),
        ),
    ],
}

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
