"""Rows that only add up others are no lines, wherever they are; discounts that are counted are."""

import pytest

from docrail.invoices.readers.amounts.money import find_money
from docrail.invoices.readers.lines.line_items import find_line_items
from tests.invoices.layouts import layout, table

GROUPS = (
    *("Water || | 70.00", "Standing charge || | 30.00", "Usage | 20 | 2.00 | 40.00"),
    *("Sewage || | 50.00", "Standing charge || | 20.00", "Usage | 20 | 1.50 | 30.00"),
)


def lines_of(*rows: str, edges: tuple[float, ...] = (50, 300, 380, 480)) -> list[str]:
    drawn = layout(table(*rows, edges=edges))
    return [line.description for line in find_line_items(drawn, find_money(drawn))]


def test_the_sum_of_a_group_at_its_head_is_no_line() -> None:
    found = lines_of("Water and sewage | m3 | Price | Amount", *GROUPS, "Net amount || | 120.00")
    assert found == ["Standing charge", "Usage", "Standing charge", "Usage"]


def test_sums_of_groups_are_known_by_a_sum_under_its_heading() -> None:
    groups = ("Labour | 2 | 50.00 | 100.00", "Sum of labour || | 100.00", "Parts | 4 | 5.00 | 20.00")
    rows = ("Item | Quantity | Price | Amount", *groups, "Oil | 1 | 8.00 | 8.00", "Sum of parts || | 28.00")
    summary = ("Net amount | VAT % | VAT | Total amount", "128.00 | 19 | 24.32 | 152.32")
    assert lines_of(*rows, *summary) == ["Labour", "Parts", "Oil"]


def test_a_line_that_equals_those_above_it_is_a_line_below_the_same_headings_as_sums() -> None:
    lines = ("Offices | 100.00 | 20.00 | 120.00", "Stairs | 60.00 | 12.00 | 72.00", "Windows | 160.00 | 32.00 | 192.00")
    sums = ("Credit from last invoice || | -50.00", "Amount due || | 334.00")
    assert lines_of("Description | Net | VAT | Total", *lines, *sums) == ["Offices", "Stairs", "Windows"]


def test_the_last_row_of_a_tax_summary_is_the_sum_only_if_it_adds_up_the_others() -> None:
    lines = ("Pens | 3 | 20.00 | 60.00", "Books | 1 | 40.00 | 40.00", "Gift wrap || | 5.00")
    taxes = ("VAT rate | Net | VAT | Total", "20% | 5.00 | 1.00 | 6.00", "0% | 100.00 | 0.00 | 100.00")
    found = lines_of("Description | Qty | Unit price | Amount", *lines, *taxes, "Amount due || | 106.00")
    assert found == ["Pens", "Books", "Gift wrap"]


@pytest.mark.parametrize(("discount", "lines"), [("1 Loyalty discount", 3), ("Loyalty discount", 2)])
def test_a_discount_with_a_count_is_a_line(discount: str, lines: int) -> None:
    rows = ("Item | Price | Amount", "40 Chairs | 7.00 | 280.00", "2 Tents | 90.00 | 180.00")
    assert len(lines_of(*rows, f"{discount} || -50.00", "Net amount || 410.00", edges=(50, 380, 480))) == lines


def test_a_tax_of_zero_is_no_line_whatever_is_next_to_its_name() -> None:
    rows = ("Item | Code | Rate | Amount", "Venice to Verona | A1 || 640.00", "VAT | (code RC) | 0.00 % | 0.00")
    assert lines_of(*rows, "Invoice total || | 640.00") == ["Venice to Verona"]


def test_an_article_number_that_begins_like_a_sum_does_not_end_the_table() -> None:
    lines = ("Screws | 2 | 5.00 | 10.00", "11 DUE-10-50 Plugs | 300 | 2.00 | 6.00", "Nuts | 4 | 1.00 | 4.00")
    assert len(lines_of("Item | Quantity | Price | Amount", *lines, "Net amount || | 20.00")) == len(lines)
