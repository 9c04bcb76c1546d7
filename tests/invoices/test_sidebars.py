"""What stands beside a letter is read apart from it, and a column of a table is not taken for that."""

from tests.invoices.documents import Line
from tests.invoices.layouts import layout

SIDE = ("Nordwind plc", "1 Quay Street", "Hull HU1 2AA", "hello@nordwind.example", "VAT no.", "GB980780684")
BODY = ("Dear Ms Vogel,", "for our work we charge", "Advice and drafting 125.00", "Total 125.00", "Kind regards")


def texts(*lines: Line) -> list[str]:
    """Return the rows, cells with `|` between them."""
    return [" | ".join(cell.text for cell in row.cells) for row in layout(lines).rows]


def column(left: float, top: float, step: float, *words: str) -> list[Line]:
    return [(left, top + step * index, text) for index, text in enumerate(words)]


def test_the_lines_of_a_sidebar_come_first_and_fall_into_no_others() -> None:
    for side, body in ((40, 200), (430, 40)):
        drawn = texts(*column(side, 100, 17, *SIDE), *column(body, 100, 25, *BODY))
        assert drawn == [*SIDE, *BODY]


def test_lines_that_stand_level_are_one_table() -> None:
    drawn = texts(*column(40, 100, 25, *SIDE), *column(250, 100, 25, *BODY))
    assert drawn[0] == "Nordwind plc | Dear Ms Vogel,"


def test_words_beside_bare_amounts_are_what_is_charged() -> None:
    amounts = [(430.0, 134.0, "125.00"), (430.0, 168.0, "75.00"), (430.0, 185.0, "200.00")]
    assert "Hull HU1 2AA | 125.00" in texts(*column(40, 100, 17, *SIDE), *amounts)


def test_a_few_lines_are_no_sidebar() -> None:
    drawn = texts(*column(40, 104, 25, *SIDE[:3]), *column(250, 100, 25, *BODY))
    assert drawn[0] == "Nordwind plc | Dear Ms Vogel,"


def test_what_crosses_the_page_leaves_no_sidebar() -> None:
    across = (40.0, 60.0, "a letterhead that goes over all of the page with many words in one line of it")
    drawn = texts(across, *column(40, 104, 25, *SIDE), *column(200, 100, 25, *BODY))
    assert "Nordwind plc | Dear Ms Vogel," in drawn


def test_a_page_of_many_columns_has_no_sidebar() -> None:
    """Each gap between columns would be looked at with all words, and a page can have thousands."""
    side = column(10, 100, 17, *["aside"] * 6)
    for columns, rows in ((11, 6 + 5), (13, 9)):
        body = [cell for index in range(columns) for cell in column(60 + 40 * index, 100, 25, *["word"] * 5)]
        assert len(texts(*side, *body)) == rows
