"""A sidebar next to a letter is read separately, and a column of a table is not taken for one."""

from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, page, table

SIDE = ("Nordwind plc", "1 Quay Street", "Hull HU1 2AA", "hello@nordwind.example", "VAT no.", "GB980780684")
BODY = ("Dear Ms Vogel,", "for our work we charge", "Advice and drafting 125.00", "Total 125.00", "Kind regards")


def texts(*lines: Line) -> list[str]:
    """Return the rows, cells with `|` between them."""
    return [" | ".join(cell.text for cell in row.cells) for row in layout(lines).rows]


def column(left: float, top: float, step: float, *words: str) -> list[Line]:
    return [(left, top + step * index, text) for index, text in enumerate(words)]


def test_the_lines_of_a_sidebar_come_last_and_fall_into_no_others() -> None:
    for side, body in ((40, 200), (430, 40)):
        drawn = texts(*column(side, 100, 17, *SIDE), *column(body, 100, 25, *BODY))
        assert drawn == [*BODY, *SIDE]


def test_lines_that_stand_level_are_one_table() -> None:
    drawn = texts(*column(40, 100, 25, *SIDE), *column(250, 100, 25, *BODY))
    assert drawn[0] == "Nordwind plc | Dear Ms Vogel,"


def test_level_lines_with_an_account_are_a_sidebar() -> None:
    side, body = (*SIDE, "NL23 INGB 0004", "1826 34"), ("We charge", *BODY[:3], "Advice 25.00", *BODY[3:], "Hull")
    drawn = texts(*column(40, 100, 25, *side), *column(250, 104, 25, *body))
    assert drawn == [*body, *side]


def test_words_next_to_bare_amounts_are_their_descriptions() -> None:
    amounts = [(430.0, 134.0, "125.00"), (430.0, 168.0, "75.00"), (430.0, 185.0, "200.00")]
    assert "Hull HU1 2AA | 125.00" in texts(*column(40, 100, 17, *SIDE), *amounts)


def test_sums_below_their_labels_hide_no_sidebar() -> None:
    sums: list[Line] = [(200, 260, "Net"), (300, 260, "Total"), (200, 275, "100.00"), (300, 275, "125.00")]
    assert texts(*column(40, 100, 17, *SIDE), *column(200, 100, 25, *BODY), *sums)[-6:] == [*SIDE]


def test_the_address_in_a_sidebar_is_the_senders() -> None:
    buyer = column(360, 60, 12, "Bergmann plc", "Mill Lane 22", "Leeds LS1 4AB", "VAT GB991234568")
    lines = [*buyer, *column(40, 110, 17, *SIDE), *column(200, 130, 25, *BODY)]
    invoice = read_text([page(lines)])
    assert (invoice.vendor_name.value, invoice.vendor_vat_id.value) == ("Nordwind plc", "GB980780684")


def test_wrapped_descriptions_next_to_amounts_in_their_middle_are_no_sidebar() -> None:
    head = column(40, 40, 14, "Nordwind plc", "1 Quay Street", "Hull HU1 2AA")
    rows = [
        line
        for top in (180.0, 220.0, 260.0)
        for line in (*column(40, top, 11.2, "Consulting on", "site, with travel"), (400.0, top + 5.6, "100.00"))
    ]
    sums: list[Line] = [(330, 320, "Net"), (400, 320, "300.00"), (330, 334, "Total"), (400, 334, "360.00")]
    assert not any(row.aside for row in layout([*head, *rows, *sums]).rows)


def test_a_few_lines_are_no_sidebar() -> None:
    drawn = texts(*column(40, 104, 25, *SIDE[:3]), *column(250, 100, 25, *BODY))
    assert drawn[0] == "Nordwind plc | Dear Ms Vogel,"


def test_a_line_across_the_page_rules_out_a_sidebar() -> None:
    across = (40.0, 60.0, "a letterhead that goes over all of the page with many words in one line of it")
    drawn = texts(across, *column(40, 104, 25, *SIDE), *column(200, 100, 25, *BODY))
    assert "Nordwind plc | Dear Ms Vogel," in drawn


def test_a_page_of_many_columns_has_no_sidebar() -> None:
    """Each gap between columns would be looked at with all words, and a page can have thousands."""
    side = column(10, 100, 17, *["aside"] * 6)
    for columns, split in ((10, True), (13, False)):
        body = [cell for index in range(columns) for cell in column(60 + 40 * index, 100, 25, *["word"] * 5)]
        drawn = texts(*side, *body, (60.0 + 40 * columns, 150.0, "7.00"))
        assert (drawn[-6:] == ["aside"] * 6) is split


def test_the_labels_of_sums_are_no_sidebar() -> None:
    """A currency next to each amount does not describe it."""
    head = [
        *column(50, 50, 14, "Anna Schmidt", "Hauptstr. 1", "10115 Berlin"),
        *column(50, 130, 14, "Alpha AG", "Weg 2"),
    ]
    sums = [(50.0, 308.0, "Netto"), (450.0, 308.0, "100,00 EUR"), (50.0, 336.0, "Gesamt"), (450.0, 336.0, "119,00 EUR")]
    assert "Gesamt | 119,00 EUR" in texts(*head, (50.0, 220.0, "Rechnung 17"), *sums)


def test_the_sidebar_is_not_the_table_next_to_it() -> None:
    rows = table("Beratung | 2 | 50,00 | 100,00", "Netto ||| 100,00", "Gesamt ||| 119,00", edges=(50, 230, 280, 340))
    side = column(440, 296, 14, "Muster GmbH", "Hauptstr. 1", "10115 Berlin", "Tel. 030 123", "IBAN", "HRB 12345 B")
    head = column(50, 130, 14, "Alpha AG", "Nebenweg 2", "80331 Berlin")
    assert any(row.startswith("Gesamt | 119,00") for row in texts(*head, *rows, *side))


def test_columns_of_a_table_that_goes_down_the_page_are_no_sidebar() -> None:
    head = column(50, 50, 14, "Muster GmbH", "Hauptstr. 1", "10115 Berlin", "Rechnung 7", "Datum: 02.03.2026")
    rows = table(
        "Datum | Von | Nach | Preis", "01.03.2026 | Berlin | Hamburg | 50,00", "02.03.2026 | Ulm | Bonn | 50,00"
    )
    assert "01.03.2026 | Berlin | Hamburg | 50,00" in texts(
        *head, *[(x if x < 300 else x + 20, y, t) for x, y, t in rows]
    )
