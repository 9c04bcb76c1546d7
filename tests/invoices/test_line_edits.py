"""Line items are edited row by row, and pasted from spreadsheets."""

from decimal import Decimal

import pytest

from docrail.invoices.kinds import FieldError
from docrail.invoices.line_edits import DeleteRows, InsertRow, LineEdit, PasteCells, SetCell, edited, lines_version
from docrail.invoices.model import InvoiceData, LineItem
from docrail.invoices.typed import AmbiguousTextError

TWO = InvoiceData(
    vendor_country="DE",
    line_items=(
        LineItem(
            description="Beratung", quantity=Decimal(2), amount=Decimal("100.00"), page=1, box=(0.1, 0.1, 0.2, 0.2)
        ),
        LineItem(description="Reise", amount=Decimal("19.00")),
    ),
)


def names(edit: LineEdit) -> list[str]:
    return [line.description for line in edited(TWO, edit)]


def test_a_cell_is_set_and_the_rest_of_its_row_stays() -> None:
    first, second = edited(TWO, SetCell("set", 0, "amount", "4.904,95"))
    assert first == TWO.line_items[0].model_copy(update={"amount": Decimal("4904.95")})
    assert second == TWO.line_items[1]
    assert edited(TWO, SetCell("set", 0, "amount", " "))[0].amount is None
    assert edited(TWO, SetCell("set", 1, "tax_rate", "19 %"))[1].tax_rate == Decimal(19)
    assert edited(TWO, SetCell("set", 0, "quantity", "1.000"))[0].quantity == Decimal(1000)


def test_rows_are_inserted_and_deleted() -> None:
    assert names(InsertRow("insert", 1)) == ["Beratung", "", "Reise"]
    assert names(InsertRow("insert", 2)) == ["Beratung", "Reise", ""]
    assert names(DeleteRows("delete", 0)) == ["Reise"]
    assert names(DeleteRows("delete", 0, 2)) == []


def test_pasted_cells_fill_rows_and_append_others() -> None:
    lines = edited(
        TWO, PasteCells("paste", 1, "description", 'Fahrt\t2\t10,50\t21,00\t19\n"zwei\nZeilen"\t\t\t1.234,50\r\n')
    )
    assert [(line.description, line.quantity, line.unit_price, line.amount) for line in lines[1:]] == [
        ("Fahrt", Decimal(2), Decimal("10.50"), Decimal("21.00")),
        ("zwei Zeilen", None, None, Decimal("1234.50")),
    ]
    amounts = edited(TWO, PasteCells("paste", 0, "amount", "1,00\n2,00"))
    assert [(line.description, line.amount) for line in amounts] == [("Beratung", Decimal(1)), ("Reise", Decimal(2))]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (SetCell("set", 2, "amount", "1"), "there is no row 2"),
        (SetCell("set", 0, "amount", "viel"), "row 1, amount: expected an amount"),
        (InsertRow("insert", 3), "expected a row from 0 to 2"),
        (DeleteRows("delete", 1, 2), "there is no row 2"),
        (PasteCells("paste", 1, "amount", "1\n2\nviel"), "row 4, amount"),
        (PasteCells("paste", 0, "tax_rate", "1\t2"), "at most 1 cells, found 2"),
        (PasteCells("paste", 3, "amount", "1"), "expected a row from 0 to 2"),
        (PasteCells("paste", 0, "description", "x\n" * 1001), "at most 1000"),
        (SetCell("set", 0, "description", "a\u202eb"), "printable"),
    ],
)
def test_an_edit_that_is_wrong_says_where(edit: LineEdit, message: str) -> None:
    with pytest.raises(FieldError, match=message):
        edited(TWO, edit)


def test_an_amount_with_two_readings_is_asked_about() -> None:
    with pytest.raises(AmbiguousTextError):
        edited(InvoiceData(line_items=TWO.line_items), SetCell("set", 0, "amount", "1.234"))


def test_the_version_of_lines_follows_their_values() -> None:
    changed = edited(TWO, SetCell("set", 0, "amount", "5"))
    back = edited(InvoiceData(line_items=changed), SetCell("set", 0, "amount", "100.00"))
    assert lines_version(changed) != lines_version(TWO.line_items) == lines_version(back)
