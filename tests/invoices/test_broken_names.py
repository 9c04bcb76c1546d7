"""A name is found whole: printed over two lines, abbreviated above and spelt out below, or behind the one it uses."""

import pytest

from invoices.readers.text import read_text
from invoices.readers.word import Word
from tests.invoices.documents import Line
from tests.invoices.layouts import page

ADDRESS: list[Line] = [(50, 90, "Hafenstraße 9"), (50, 103, "20457 Hamburg"), (50, 300, "Invoice 07/26")]


def vendor(*pages: list[Line]) -> str | None:
    return read_text([page(lines, number) for number, lines in enumerate(pages, 1)]).vendor_name.value


def large(top: float, text: str, size: float = 14.0) -> list[Word]:
    """Return the words of a line set in larger letters."""
    words, left = [], 50.0
    for word in text.split():
        words.append(Word(word, left, top, left + 0.5 * size * len(word), top + size))
        left = words[-1].right + 0.25 * size
    return words


def letterhead(first: str, second: str, size: float) -> str | None:
    """Return the name of a seller whose first two lines are set in letters of `size` over smaller ones."""
    rest = page([(50, 75, "Hafenstraße 9, 20457 Hamburg"), (50, 90, "HRB 123456"), (50, 300, "Invoice 07/26")])
    words = (*large(40, first, size), *large(40 + size + 1, second, size), *rest.words)
    return read_text([type(rest)(1, rest.width, rest.height, words)]).vendor_name.value


@pytest.mark.parametrize(
    ("first", "second", "size", "name"),
    [
        ("Ferretería Industrial", "Olmedillo Hermanos, S.L.", 14, "Ferretería Industrial Olmedillo Hermanos, S.L."),
        ("Ferretería Industrial", "Olmedillo Hermanos, S.L.", 10, "Olmedillo Hermanos, S.L."),
        ("Olmedillo", "Olmedillo Hermanos, S.L.", 14, "Olmedillo Hermanos, S.L."),
        ("INVOICE", "Olmedillo Hermanos, S.L.", 14, "Olmedillo Hermanos, S.L."),
    ],
    ids=["large", "as all lines", "a logo", "a title"],
)
def test_two_large_lines_over_smaller_ones_are_one_name(first: str, second: str, size: float, name: str) -> None:
    assert letterhead(first, second, size) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Kröger is a trading name of Kröger Plumbing Ltd. Registered in England no. 09911827.", "Kröger Plumbing Ltd"),
        ("Kröger ist eine Marke der Nordlicht Handels GmbH, HRB 1234", "Nordlicht Handels GmbH"),
        ("Kröger est une marque de Lumière SAS au capital de 10 000 €", "Lumière SAS"),
        ("Kröger es una marca de Olmedillo, S.L.", "Olmedillo, S.L."),
        ("PayHere is a trading name of Bluecorn Payments Ltd.", "Kröger"),
    ],
)
def test_who_trades_under_the_name_of_the_head_is_the_seller(line: str, name: str) -> None:
    assert vendor([(50, 50, "Kröger"), *ADDRESS, (50, 780, line)]) == name


def test_an_abbreviated_name_is_spelt_out_below() -> None:
    sender: Line = (50, 50, "Medorvina Handelsges. mbH, Postfach 11 02 44, 28099 Hanseburg")
    foot: list[Line] = [(50, 780, "Medorvina Handelsgesellschaft mbH"), (50, 793, "28199 Hanseburg")]
    assert vendor([sender, (50, 300, "Rechnung 07/26"), *foot]) == "Medorvina Handelsgesellschaft mbH"
    other: list[Line] = [(50, 780, "Medorvina Handwerkskammer mbH"), (50, 793, "28199 Hanseburg")]
    assert vendor([sender, (50, 300, "Rechnung 07/26"), *other]) == "Medorvina Handelsges. mbH"


def test_a_remark_behind_a_name_is_no_part_of_it() -> None:
    foot: Line = (50, 780, "Van der Weelde Bloemen V.O.F. - leveringsvoorwaarden VGB van toepassing")
    assert vendor([(50, 50, "Factuur 07/26"), foot]) == "Van der Weelde Bloemen V.O.F."


def test_the_foot_of_the_last_page_spells_a_logo_out() -> None:
    first: list[Line] = [
        (50, 50, "Fernlow Nurseries"),
        (50, 63, "www.fernlownurseries.example"),
        (50, 300, "Invoice 7"),
    ]
    foot = "Fernlow Nurseries (Wholesale) Limited, Hollow Lane, Dorset. Company no. 01277310."
    assert vendor(first, [(50, 700, foot)]) == "Fernlow Nurseries (Wholesale) Limited"
    bank = "Westmere Bank plc, High Street, Dorset. Company no. 01277310."
    assert vendor(first, [(50, 700, bank)]) == "Fernlow Nurseries"
