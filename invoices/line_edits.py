"""Edit the line items of a document row by row: set a cell, insert and delete rows, paste rows of a spreadsheet."""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from docrail.field_docs import describe_fields
from docrail.invoices.fields import MOST_LINES, value_text
from docrail.invoices.kinds import Expected, FieldError
from docrail.invoices.model import InvoiceData, LineItem
from docrail.invoices.typed import understand_amount

Column = Literal["description", "quantity", "unit_price", "amount", "tax_rate"]
COLUMNS: tuple[Column, ...] = ("description", "quantity", "unit_price", "amount", "tax_rate")
"""The columns, in the order in which they are shown and pasted."""
LONGEST_DESCRIPTION = 2000
_CLOSED: ConfigDict = ConfigDict(extra="forbid", json_schema_extra=describe_fields)

Row = Annotated[int, Field(ge=0, le=MOST_LINES)]


@dataclass(frozen=True, slots=True)
class SetCell:
    """Set one cell to what a person typed."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    do: Literal["set"]
    """`set`."""
    row: Row
    """Number of the row, from 0."""
    column: Column
    """The column."""
    text: Annotated[str, Field(max_length=LONGEST_DESCRIPTION)]
    """As typed, such as `4.904,95`; empty: the document does not state it."""


@dataclass(frozen=True, slots=True)
class InsertRow:
    """Insert an empty row."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    do: Literal["insert"]
    """`insert`."""
    row: Row
    """Its number, from 0; the number of rows appends it."""


@dataclass(frozen=True, slots=True)
class DeleteRows:
    """Delete rows."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    do: Literal["delete"]
    """`delete`."""
    row: Row
    """Number of the first, from 0."""
    count: Annotated[int, Field(ge=1, le=MOST_LINES)] = 1
    """How many."""


@dataclass(frozen=True, slots=True)
class PasteCells:
    """Paste cells of a spreadsheet; rows beyond the last are appended."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    do: Literal["paste"]
    """`paste`."""
    row: Row
    """Number of the first row, from 0."""
    column: Column
    """The first column."""
    text: Annotated[str, Field(max_length=200_000)]
    """Rows in lines, cells separated by tabs."""


LineEdit = Annotated[SetCell | InsertRow | DeleteRows | PasteCells, Field(discriminator="do")]


def lines_version(lines: Sequence[LineItem]) -> str:
    """Return a digest of the line items: an edit names the one that it was made on."""
    return hashlib.sha256((value_text(tuple(lines)) or "").encode()).hexdigest()[:16]


def edited(invoice: InvoiceData, edit: LineEdit) -> tuple[LineItem, ...]:
    """Return the document's line items after an edit. Raises: FieldError, AmbiguousTextError."""
    lines = list(invoice.line_items)
    match edit:
        case SetCell():
            _existing(lines, edit.row)
            lines[edit.row] = _with(invoice, lines[edit.row], edit.row, {edit.column: edit.text})
        case InsertRow():
            if edit.row > len(lines):
                raise FieldError(f"expected a row from 0 to {len(lines)}, found {edit.row}")
            lines.insert(edit.row, LineItem())
        case DeleteRows():
            _existing(lines, edit.row)
            _existing(lines, edit.row + edit.count - 1)
            del lines[edit.row : edit.row + edit.count]
        case PasteCells():
            lines = _pasted(invoice, lines, edit)
    if len(lines) > MOST_LINES:
        raise FieldError(f"expected at most {MOST_LINES} line items, found {len(lines)}")
    return tuple(lines)


def _pasted(invoice: InvoiceData, lines: list[LineItem], edit: PasteCells) -> list[LineItem]:
    if edit.row > len(lines):
        raise FieldError(f"expected a row from 0 to {len(lines)}, found {edit.row}")
    columns = COLUMNS[COLUMNS.index(edit.column) :]
    for number, cells in enumerate(_rows(edit.text), start=edit.row):
        if len(cells) > len(columns):
            raise FieldError(f"row {number + 1}: expected at most {len(columns)} cells, found {len(cells)}")
        if number == len(lines):
            lines.append(LineItem())
        given = dict(zip(columns, cells, strict=False))
        lines[number] = _with(invoice, lines[number], number, given)
    return lines


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the rows of cells. A cell with a line break is quoted, as spreadsheets copy it. Raises: FieldError."""
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t"):
            if any(cell.strip() for cell in row):
                yield row
    except csv.Error as error:
        raise FieldError(f"expected rows of cells separated by tabs: {error}") from None


def _with(invoice: InvoiceData, line: LineItem, row: int, cells: dict[Column, str]) -> LineItem:
    update: dict[str, object] = {}
    for column, text in cells.items():
        try:
            update[column] = _value(invoice, column, " ".join(text.split()))
        except FieldError as error:
            raise FieldError(f"row {row + 1}, {column}: {error}", error.code) from None
    return LineItem.model_validate(line.model_dump() | update)


def _value(invoice: InvoiceData, column: Column, text: str) -> str | None:
    if column == "description":
        if not text.isprintable() or len(text) > LONGEST_DESCRIPTION:
            raise FieldError(f"expected at most {LONGEST_DESCRIPTION} printable characters", Expected.TEXT)
        return text
    if not text:
        return None
    stated = [value for line in invoice.line_items for value in (line.quantity, line.unit_price, line.amount)]
    return understand_amount(text, invoice, stated).value


def _existing(lines: Sequence[LineItem], row: int) -> None:
    if row >= len(lines):
        raise FieldError(f"there is no row {row}: expected one of the {len(lines)} rows, from 0")
