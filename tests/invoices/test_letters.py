"""In letters without labels, the vendor and the buyer are known by where addresses are, and names are read whole."""

import pytest

from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import page

SMALL, LARGE = 7.0, 22.0
BUYER = "Werner Metallbau GmbH"
WINDOW: list[Line] = [
    (57, 150 + 13 * row, text) for row, text in enumerate((BUYER, "Frau Schulz", "Lagerweg 12", "50667 Köln"))
]
BELOW: list[Line] = [
    *((380, 200 + 14 * row, text) for row, text in enumerate(("Rechnungsnummer", "Rechnungsdatum"))),
    *((480, 200 + 14 * row, text) for row, text in enumerate(("2026-0117", "12.05.2026"))),
    *((x, 330, text) for x, text in ((50, "Bezeichnung"), (330, "Menge"), (400, "Preis"), (490, "Betrag"))),
    *((x, 346, text) for x, text in ((50, "Beratung"), (330, "2"), (400, "50,00"), (490, "100,00"))),
    *((x, 420, text) for x, text in ((380, "Gesamtbetrag"), (490, "100,00"))),
]


def printed(size: float, *lines: Line) -> tuple[Word, ...]:
    """Return the words of lines in another size."""
    words = []
    for left, top, text in lines:
        x = left
        for word in text.split():
            words.append(Word(word, x, top, x + size * len(word) / 2, top + size))
            x += size * (len(word) / 2 + 0.25)
    return tuple(words)


def letter(*words: Word, lines: list[Line] = WINDOW) -> Page:
    plain = page([*lines, *BELOW])
    return Page(1, plain.width, plain.height, (*words, *plain.words))


def vendor(letter: Page) -> str | None:
    return read_text([letter]).vendor_name.value


@pytest.mark.parametrize(
    ("head", "foot", "name"),
    [
        (None, "Malermeister Uwe Sander · Ringstr. 5 · 30159 Hannover · Tel. 0511 22334", "Malermeister Uwe Sander"),
        ("Universität Bremen", "Bibliothekstraße 1 · 28359 Bremen · USt-IdNr. DE136695976", "Universität Bremen"),
        ("Timmerbedrijf Van Dijk", "Dorpsweg 4 · 1234 AB Hoorn · KvK 61440729", "Timmerbedrijf Van Dijk"),
        ("Yogastudio Lotus", "Ringstr. 5 · 30159 Hannover · Steuernummer 25/141/02018", "Yogastudio Lotus"),
        ("Calloway Fencing", "3 Yard Lane, Reading RG2 0AA, Tel 0118 555 0199", "Calloway Fencing"),
    ],
)
def test_the_only_address_in_the_head_is_the_buyers_if_the_senders_is_in_the_foot(
    head: str | None, foot: str, name: str
) -> None:
    words = (*(printed(16, (57, 40, head)) if head else ()), *printed(SMALL, (57, 790, foot)))
    assert vendor(letter(*words)) == name


def test_an_address_whose_name_is_in_the_foot_is_the_senders() -> None:
    foot = printed(SMALL, (57, 790, f"{BUYER} · Lagerweg 12 · 50667 Köln · HRB 1234"))
    assert vendor(letter(*foot)) == BUYER


def test_a_foot_in_columns_has_the_senders_address() -> None:
    column = [
        (57.0, 770.0 + 9 * row, text) for row, text in enumerate(("Schreinerei Lang", "Am Wald 3", "87435 Kempten"))
    ]
    other = [(230.0, 770.0, "Tel. 0831 4455"), (230.0, 779.0, "info@schreinerei-lang.de")]
    assert vendor(letter(*printed(SMALL, *column, *other))) == "Schreinerei Lang"


def test_of_two_addresses_side_by_side_the_one_with_a_phone_number_is_the_senders() -> None:
    left = [(57.0, 60.0 + 13 * row, text) for row, text in enumerate((BUYER, "Lagerweg 12", "50667 Köln"))]
    right = [
        (380.0, 60.0 + 13 * row, text)
        for row, text in enumerate(("Tischlerei Brandt", "Holzweg 1", "30159 Hannover", "Tel. 0511 22334"))
    ]
    assert vendor(letter(lines=[*left, *right])) == "Tischlerei Brandt"


def test_a_sender_line_with_commas_is_one() -> None:
    words = (
        *printed(26, (380, 40, "ÖZTÜRK")),
        *printed(6.5, (57, 138, "Fliesen Öztürk, Hauptstr. 12, 70173 Stuttgart")),
    )
    reading = read_text([letter(*words)])
    assert (reading.vendor_name.value, reading.buyer_name.value) == ("Fliesen Öztürk", BUYER)


def test_a_logo_over_several_lines_is_one_name() -> None:
    logo = printed(LARGE, (240, 30, "WEINGUT"), (240, 54, "SCHLOSS"), (240, 78, "HOHENECK"))
    foot = printed(SMALL, (57, 790, "Schlossweg 1 · 67146 Deidesheim · info@schloss-hoheneck.de"))
    assert vendor(letter(*logo, *foot)) == "WEINGUT SCHLOSS HOHENECK"


def test_a_domain_shows_that_two_lines_are_one_name() -> None:
    head = (*printed(28, (43, 25, "DAVE OKONJO")), *printed(16, (43, 57, "ELECTRICAL")))
    contact = printed(10, (400, 41, "dave@okonjo-electrical.example"))
    assert vendor(letter(*head, *contact)) == "DAVE OKONJO ELECTRICAL"


def test_a_domain_that_goes_on_in_a_remark_does_not() -> None:
    head = (*printed(14, (43, 25, "Jörn Tammling")), *printed(14, (43, 43, "Schornsteinfeger Energieberater")))
    contact = printed(10, (400, 41, "info@tammling-schornsteinfeger.example"))
    assert vendor(letter(*head, *contact)) == "Jörn Tammling"


@pytest.mark.parametrize(
    ("logo", "foot", "name"),
    [
        ("De Notenkraker", "Stichting Kinderopvang Zeist", "Stichting Kinderopvang Zeist"),
        ("Haus am See", "Stiftung Haus am See", "Stiftung Haus am See"),
        ("Arte Vivo", "Fundación Arte Vivo", "Fundación Arte Vivo"),
        ("La Fabrique", "Association La Fabrique Solidaire", "Association La Fabrique Solidaire"),
        ("Riverside", "Riverside Community Trust", "Riverside Community Trust"),
    ],
)
def test_the_foundation_or_association_in_the_foot_is_the_vendor(logo: str, foot: str, name: str) -> None:
    columns = [(57.0, 770.0 + 9 * row, text) for row, text in enumerate((foot, "Seestraße 4", "18375 Born"))]
    number = (230.0, 770.0, "KvK 41178822")
    assert vendor(letter(*printed(LARGE, (57, 40, logo)), *printed(SMALL, *columns, number))) == name


def test_a_group_is_not_the_vendor_because_the_vendor_is_a_member_of_it() -> None:
    foot = printed(SMALL, (57, 790, "A member of the Norvic Group plc. VAT no. GB980780684"))
    assert vendor(letter(*printed(16, (57, 40, "Norvic Bearings Ltd")), *foot)) == "Norvic Bearings Ltd"


def test_a_court_is_not_a_company() -> None:
    foot = printed(SMALL, (57, 790, "Sitz Wildeshausen, AG Oldenburg HRA 20418"))
    head = (*printed(16, (57, 40, "Thöle Sanitär")), *printed(9, (57, 60, "Harpstedter Str. 210, 27243 Wildeshausen")))
    assert vendor(letter(*head, *foot)) == "Thöle Sanitär"


def test_a_registered_office_in_the_foot_is_the_second_address_of_the_sender() -> None:
    seller: list[Line] = [(57, 40, "Thames Print Ltd"), (57, 53, "12 Mill Lane"), (57, 66, "Reading RG4 8AA")]
    foot = printed(SMALL, (57, 790, "Registered office: 1 Signal Court, Kirkstall Road, Leeds LS4 2AB"))
    assert vendor(letter(*foot, lines=seller)) == "Thames Print Ltd"


def test_a_company_below_its_brand_is_the_sender_if_the_page_has_no_other_address() -> None:
    seller: list[Line] = [(57, 70, "Hartwell Leisure Ltd"), (57, 83, "3 Mill Lane"), (57, 96, "Reading RG4 8AA")]
    foot = printed(SMALL, (57, 790, "info@climbzone.example"))
    assert vendor(letter(*printed(14, (57, 40, "CLIMB WALL")), *foot, lines=seller)) == "Hartwell Leisure Ltd"


def test_the_title_of_a_dutch_bill_is_not_the_vendor() -> None:
    foot = printed(SMALL, (57, 790, "Hofstraat 27 · 4331 CL Middelburg · 0118 550 274"))
    assert (
        vendor(letter(*printed(30, (57, 230, "Nota")), *printed(12, (57, 40, "De Stemvork")), *foot)) == "De Stemvork"
    )
