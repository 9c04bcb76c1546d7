"""Tables that fit the terminal: texts are folded, ids never; what is still too wide becomes a block for each row."""

import sys
from collections.abc import Mapping, Sequence
from itertools import compress

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from docrail.cli.listing import Kind
from docrail.cli.terminal import colour_of, coloured, columns, folded, say_unfolded, visible

NARROWEST_TEXT = 12
"""Least columns of a text that is folded: fewer are hard to read."""

Headings = Sequence[tuple[str, Kind]]
Rows = Sequence[Sequence[str]]

GAP = 2
"""Columns between two of a table."""


def console() -> Console:
    """Return the console of tables. Cells are texts of documents and errors: `[b]` in them is not markup."""
    return Console(width=columns(sys.stdout), markup=False, emoji=False, highlight=False)


def print_table(headings: Mapping[str, Kind], rows: Rows) -> None:
    """Print a table, or where it is too wide without its empty columns, or else a block for each row."""
    columns_, rows = list(headings.items()), safe(rows)
    if rows and not fits(columns_, rows):
        full = [any(cells) for cells in zip(*rows, strict=True)]
        columns_, rows = list(compress(columns_, full)), [list(compress(row, full)) for row in rows]
    if fits(columns_, rows):
        print_columns(columns_, rows)
    else:
        print_blocks(columns_, rows)


def safe(rows: Rows) -> Rows:
    """Return rows with every cell safe to print, before their widths are measured."""
    return [[visible(cell) for cell in row] for row in rows]


def fits(headings: Headings, rows: Rows) -> bool:
    """Return whether a line has room for the columns, with texts folded."""
    return sum(_least_widths(headings, rows)) + GAP * (len(headings) - 1) <= columns(sys.stdout)


def _least_widths(headings: Headings, rows: Rows) -> list[int]:
    """Return the least width of each column: that of its longest cell, or of a text's longest word."""
    widths = []
    for (name, kind), *cells in zip(headings, *rows, strict=True):
        longest = max(map(cell_len, (name, *cells)))
        if kind is Kind.TEXT:
            words = (word for cell in (name, *cells) for word in cell.split())
            longest = min(longest, max(NARROWEST_TEXT, *map(cell_len, words)))
        widths.append(longest)
    return widths


def print_columns(headings: Headings, rows: Rows) -> None:
    """Print a table."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for (name, kind), least in zip(headings, _least_widths(headings, rows), strict=True):
        if kind is Kind.TEXT:
            table.add_column(name, overflow="fold", min_width=least)
        else:
            table.add_column(name, no_wrap=True, justify="right" if kind is Kind.NUMBER else "left")
    for row in rows:
        cells = zip(row, headings, strict=True)
        table.add_row(*(Text(text, colour_of(text) or "" if kind is Kind.STATUS else "") for text, (_, kind) in cells))
    console().print(table)


def print_blocks(headings: Headings, rows: Rows) -> None:
    """Print the first cell of each row, and below it each other cell after its heading."""
    width = max(len(name) for name, _ in headings)
    for first, *others in rows:
        say_unfolded(first)
        for (name, kind), text in zip(headings[1:], others, strict=True):
            line = f"  {name:{width}}  {coloured(text) if kind is Kind.STATUS else text}"
            if text:
                say_unfolded("\n".join(folded(line, columns(sys.stdout)) if kind is Kind.TEXT else [line]))
