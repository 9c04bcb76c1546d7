"""Define the vendors of the invented invoices.

The companies do not exist. Their account and VAT numbers have valid check digits and belong to no one we know of.
"""

from dataclasses import dataclass
from decimal import Decimal

Item = tuple[str, Decimal]
"""A description, and the price of one piece."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words that a vendor prints, and how it writes numbers and dates."""

    title: str
    number: str
    date: str
    due: str
    columns: tuple[str, str, str, str]
    """Description, quantity, price and amount."""
    net: str
    tax: str
    total: str
    vat_id: str
    decimal: str
    thousands: str
    day: str
    """A format for `strftime`."""


GERMAN = Words(
    *("RECHNUNG", "Rechnungsnummer", "Rechnungsdatum", "Zahlbar bis"),
    ("Bezeichnung", "Menge", "Einzelpreis", "Betrag"),
    *("Summe netto", "USt", "Gesamtbetrag", "USt-IdNr.", ",", ".", "%d.%m.%Y"),
)
ENGLISH = Words(
    *("INVOICE", "Invoice number", "Invoice date", "Due date"),
    ("Description", "Quantity", "Unit price", "Amount"),
    *("Subtotal", "VAT", "Total", "VAT no.", ".", ",", "%d %b %Y"),
)
FRENCH = Words(
    *("FACTURE", "Facture n°", "Date de facture", "Date d'échéance"),
    ("Désignation", "Quantité", "Prix unitaire", "Montant"),
    *("Total HT", "TVA", "Total TTC", "N° TVA", ",", " ", "%d/%m/%Y"),
)
DUTCH = Words(
    *("FACTUUR", "Factuurnummer", "Factuurdatum", "Vervaldatum"),
    ("Omschrijving", "Aantal", "Prijs", "Bedrag"),
    *("Subtotaal", "BTW", "Totaal", "BTW-nr.", ",", ".", "%d-%m-%Y"),
)


@dataclass(frozen=True, slots=True)
class Vendor:
    """A company that sends invoices, and how these look."""

    name: str
    street: str
    town: str
    country: str
    """ISO 3166 code."""
    vat_id: str
    iban: str
    currency: str
    words: Words
    tax_percent: int
    number: str
    """A format of its invoice numbers, with `{n}`."""
    file_name: str
    """A format of its file names, with `{number}` and `{n}`."""
    look: str
    colour: tuple[float, float, float]
    items: tuple[Item, ...]


def _items(*pairs: tuple[str, str]) -> tuple[Item, ...]:
    return tuple((name, Decimal(price)) for name, price in pairs)


OFFICE = Vendor(
    "Lindner Bürobedarf GmbH",
    *("Gutenbergstraße 14", "70176 Stuttgart", "DE", "DE342366712", "DE32928371197314467980", "EUR"),
    *(GERMAN, 19, "RE-2026-{n:04}", "Rechnung_{number}.pdf", "letter", (0.10, 0.33, 0.55)),
    _items(
        ("Kopierpapier A4, 500 Blatt", "4.89"),
        ("Ordner, breit, schwarz", "2.35"),
        ("Toner 26X, schwarz", "118.90"),
        ("Haftnotizen, 12 Blöcke", "8.49"),
        ("Kugelschreiber, 50 Stück", "21.50"),
    ),
)
CARRIER = Vendor(
    "Spedition Harms & Söhne KG",
    *("Am Güterbahnhof 3", "28195 Bremen", "DE", "DE676122202", "DE87011339152723971180", "EUR"),
    *(GERMAN, 19, "{n:06}", "{number}.pdf", "band", (0.74, 0.25, 0.10)),
    _items(
        ("Stückgut Bremen - Kassel", "148.00"),
        ("Palettentausch", "12.50"),
        ("Maut", "23.40"),
        ("Wartezeit, je Stunde", "62.00"),
    ),
)
ELECTRICIAN = Vendor(
    "Elektro Baumann",
    *("Lange Gasse 22", "93047 Regensburg", "DE", "DE532650201", "DE61947858590138818636", "EUR"),
    *(GERMAN, 19, "26-{n:03}", "scan {n:04}.pdf", "plain", (0.15, 0.15, 0.15)),
    _items(
        ("Arbeitszeit Geselle, Stunde", "58.00"),
        ("Anfahrt", "35.00"),
        ("Leitungsschutzschalter B16", "7.85"),
        ("Mantelleitung NYM 3x1,5, Meter", "1.42"),
    ),
)
SOFTWARE = Vendor(
    "Nordlicht Software AG",
    *("Speicherstadt 8", "20457 Hamburg", "DE", "DE520561748", "DE45585240329331310281", "EUR"),
    *(GERMAN, 19, "NL{n:05}", "Nordlicht {number}.pdf", "band", (0.18, 0.22, 0.48)),
    _items(
        ("Lizenz Team, Platz und Monat", "29.00"),
        ("Wartung, Monat", "240.00"),
        ("Schulung, Tag", "1250.00"),
        ("Speicher, 100 GB", "9.90"),
    ),
)
BAKERY = Vendor(
    "Backhaus Sommer GmbH",
    *("Marktplatz 5", "97070 Würzburg", "DE", "DE471874633", "DE40120090900721060532", "EUR"),
    *(GERMAN, 7, "B-{n:05}", "Rechnung {number}.pdf", "letter", (0.55, 0.34, 0.10)),
    _items(
        ("Butterbrezel", "1.35"),
        ("Belegtes Brötchen, gemischt", "2.80"),
        ("Blechkuchen, Platte", "34.00"),
        ("Kaffee, Kanne", "11.50"),
    ),
)
CLEANERS = Vendor(
    "Glanz Gebäudeservice GmbH",
    *("Industriestraße 40", "44147 Dortmund", "DE", "DE651505561", "DE94910520238472081696", "EUR"),
    *(GERMAN, 19, "GG-{n:05}", "{number}.pdf", "letter", (0.05, 0.45, 0.42)),
    _items(
        ("Unterhaltsreinigung, Monat", "890.00"),
        ("Glasreinigung", "215.00"),
        ("Verbrauchsmaterial", "46.30"),
    ),
)
ADVISERS = Vendor(
    "Kanzlei Hofer & Partner",
    *("Getreidegasse 31", "5020 Salzburg", "AT", "ATU04234685", "AT262200229149410383", "EUR"),
    *(GERMAN, 20, "H{n:04}/26", "Honorarnote {n}.pdf", "plain", (0.25, 0.10, 0.12)),
    _items(
        ("Beratung, Stunde", "210.00"),
        ("Vertragsprüfung", "640.00"),
        ("Barauslagen", "38.20"),
    ),
)
WINES = Vendor(
    "Maison Perrault SARL",
    *("12 rue des Tonneliers", "21200 Beaune", "FR", "FR14044821114", "FR0333096798750370337367224", "EUR"),
    *(FRENCH, 20, "F{n:05}", "facture-{number}.pdf", "letter", (0.45, 0.08, 0.20)),
    _items(
        ("Bourgogne Pinot noir, 75 cl", "14.20"),
        ("Chablis, 75 cl", "17.90"),
        ("Crémant, 75 cl", "11.60"),
        ("Livraison", "45.00"),
    ),
)
PRINTERS = Vendor(
    "Imprimerie du Canal",
    *("4 quai de la Marne", "67000 Strasbourg", "FR", "FR48582778825", "FR0694155817936072936042397", "EUR"),
    *(FRENCH, 20, "2026/{n:04}", "facture {n}.pdf", "band", (0.08, 0.40, 0.58)),
    _items(
        ("Dépliants A5, 1000 exemplaires", "189.00"),
        ("Cartes de visite, 500", "64.00"),
        ("Affiches A2, quadrichromie", "7.20"),
    ),
)
FLOWERS = Vendor(
    "Bloemenhuis De Vries B.V.",
    *("Herengracht 118", "1015 BT Amsterdam", "NL", "NL282857564B01", "NL67ABNA2689399432", "EUR"),
    *(DUTCH, 21, "26{n:05}", "factuur {number}.pdf", "letter", (0.20, 0.48, 0.18)),
    _items(
        ("Boeket receptie, per week", "48.50"),
        ("Kamerplant, onderhoud", "22.00"),
        ("Bezorging", "9.95"),
    ),
)
BIKES = Vendor(
    "Fietsatelier Rotterdam B.V.",
    *("Westzeedijk 77", "3015 AA Rotterdam", "NL", "NL187457694B01", "NL96INGB9160196978", "EUR"),
    *(DUTCH, 21, "FA-{n:04}", "{number}.pdf", "plain", (0.85, 0.40, 0.05)),
    _items(
        ("Servicebeurt bakfiets", "79.00"),
        ("Buitenband 26 inch", "31.50"),
        ("Remblokken, set", "18.75"),
    ),
)
PAPERS = Vendor(
    "Ashdown Paper Mills Ltd",
    *("22 Mill Lane", "Lewes BN7 2AA", "GB", "GB319674669", "GB25BARC56092065696579", "GBP"),
    *(ENGLISH, 20, "APM-{n:05}", "invoice-{number}.pdf", "letter", (0.12, 0.36, 0.28)),
    _items(
        ("Cartridge paper, A1, 100 sheets", "42.60"),
        ("Envelopes C5, box of 500", "27.15"),
        ("Carriage", "14.00"),
    ),
)
DESIGNERS = Vendor(
    "Foxglove Studio Ltd",
    *("9 Canal Street", "Manchester M1 3HE", "GB", "GB967028845", "GB57LOYD37764232455867", "GBP"),
    *(ENGLISH, 20, "FS{n:04}", "Foxglove_{number}.pdf", "band", (0.40, 0.16, 0.45)),
    _items(
        ("Design, hours", "85.00"),
        ("Stock photographs", "24.00"),
        ("Proof prints, A3", "6.50"),
    ),
)
CLOUD = Vendor(
    "Cascade Hosting Inc.",
    *("500 Pine Street", "Seattle, WA 98101", "US", "", "", "USD"),
    *(ENGLISH, 0, "CH-{n:06}", "{number}.pdf", "band", (0.10, 0.10, 0.14)),
    _items(
        ("Virtual server, 8 GB, month", "48.00"),
        ("Object storage, TB", "21.00"),
        ("Support plan, month", "100.00"),
    ),
)

VENDORS = (
    *(OFFICE, CARRIER, ELECTRICIAN, SOFTWARE, BAKERY, CLEANERS, ADVISERS),
    *(WINES, PRINTERS, FLOWERS, BIKES, PAPERS, DESIGNERS, CLOUD),
)
