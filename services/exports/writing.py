"""Write an export's tables to a file, a page of documents at a time: CSV, a workbook, or the messages of a webhook.

Everything here blocks and takes processor time: call it in a thread. A writer holds one page in memory.
"""

import csv
import datetime as dt
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, assert_never

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from docrail.dag.values.csv_cells import text_cell
from docrail.dag.values.json_values import Json
from docrail.dag.values.printable import printable
from docrail.services.exports.columns import COLUMNS, LINE_COLUMNS, Cell, Kind, LineRow, Row
from docrail.services.exports.models import (
    ColumnChoice,
    Csv,
    Export,
    ExportOrder,
    LineColumnChoice,
    WebhookMessages,
    Xlsx,
)

TABLE, LINES = "invoices.csv", "line-items.csv"
SHEET, LINE_SHEET = "Invoices", "Line items"

MOST_ROWS = 1_048_575
"""Rows of a sheet, without its headings."""
LONGEST_CELL = 32_767
"""Characters of a cell in a workbook."""
FIRST_DAY = dt.date(1900, 3, 1)
"""Excel counts days from 1900, and takes that for a leap year."""

Choices = Sequence[ColumnChoice | LineColumnChoice]


class Writer(Protocol):
    """Writes an export's file."""

    def add(self, rows: Sequence[Row]) -> None:
        """Write the next page of documents. Raises: ValueError (too many rows for the format), OSError."""

    def close(self) -> Path:
        """End the file, and return its path."""


def open_writer(export: Export, folder: Path) -> Writer:
    """Return the writer of the export's format; its files are in `folder`."""
    match export.wanted.to:
        case Csv() as style:
            return _CsvFiles(export.wanted, style, folder)
        case Xlsx():
            return _Workbook(export, folder)
        case WebhookMessages():
            return _Messages(export, folder)
        case _ as never:
            assert_never(never)


def kinds_of(choices: Choices) -> list[Kind]:
    """Return what the columns have."""
    return [_readers(choices)[choice.name].kind for choice in choices]


def cells_of(choices: Choices, row: Row | LineRow) -> list[Cell]:
    """Return a row's values in the columns."""
    return [_readers(choices)[choice.name].read(row) for choice in choices]


def cell_text(cell: Cell, zone: dt.tzinfo) -> str | None:
    """Return a value as text: exact decimals, dates as 2026-11-30, times with the offset of `zone`."""
    match cell:
        case None | str():
            return cell
        case Decimal():
            return f"{cell:f}"
        case dt.datetime():
            return cell.astimezone(zone).isoformat(timespec="seconds")
        case dt.date():
            return cell.isoformat()
        case _ as never:
            assert_never(never)


def _readers(choices: Choices) -> Any:
    return LINE_COLUMNS if any(isinstance(choice, LineColumnChoice) for choice in choices) else COLUMNS


def _headings(choices: Choices) -> list[str]:
    return [choice.heading or choice.name for choice in choices]


def _lines(row: Row) -> Iterator[LineRow]:
    for position, line in enumerate(row.invoice.line_items, 1):
        yield LineRow(row, position, line)


class _CsvFiles:
    """One file, or a zip file of two if line items are wanted. Rows end with CR LF (RFC 4180)."""

    def __init__(self, order: ExportOrder, style: Csv, folder: Path) -> None:
        self._order, self._style, self._folder = order, style, folder
        self._open = ExitStack()
        self._table = self._begin(TABLE, order.columns)
        self._lines = self._begin(LINES, order.line_columns) if order.line_columns else None

    def add(self, rows: Sequence[Row]) -> None:
        self._table.writerows(self._cells(self._order.columns, rows))
        if self._lines is not None:
            for row in rows:
                self._lines.writerows(self._cells(self._order.line_columns, _lines(row)))

    def close(self) -> Path:
        self._open.close()
        if self._lines is None:
            return self._folder / TABLE
        packed = self._folder / "export.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in (TABLE, LINES):
                archive.write(self._folder / name, name)
        return packed

    def _begin(self, name: str, choices: Choices) -> Any:
        encoding = "utf-8-sig" if self._style.bom else "utf-8"
        file = self._open.enter_context((self._folder / name).open("w", encoding=encoding, newline=""))
        writer = csv.writer(file, delimiter=self._style.separator, lineterminator="\r\n")
        writer.writerow(map(text_cell, _headings(choices)))
        return writer

    def _cells(self, choices: Choices, rows: Iterable[Row | LineRow]) -> Iterator[list[str]]:
        for row in rows:
            yield [self._cell(cell) for cell in cells_of(choices, row)]

    def _cell(self, cell: Cell) -> str:
        text = cell_text(cell, self._order.period.zone) or ""
        match cell:
            case Decimal():
                return text.replace(".", self._style.decimal)
            case str():  # only these: an apostrophe would make a negative number a text
                return text_cell(text)
            case _:
                return text


class _Workbook:
    """Sheets whose rows are written at once, and not kept."""

    def __init__(self, export: Export, folder: Path) -> None:
        self._order, self._path = export.wanted, folder / "export.xlsx"
        self._book = Workbook(self._path, {"constant_memory": True, "tmpdir": str(folder)})
        self._book.set_properties({"title": export.export_id, "created": export.created_at.replace(tzinfo=None)})
        self._formats = {
            "amount": self._book.add_format({"num_format": "#,##0.00##"}),
            "date": self._book.add_format({"num_format": "yyyy-mm-dd"}),
            "time": self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        self._table = _Sheet(self, SHEET, self._order.columns)
        self._lines = _Sheet(self, LINE_SHEET, self._order.line_columns) if self._order.line_columns else None

    @property
    def book(self) -> Workbook:
        """Return the workbook."""
        return self._book

    @property
    def zone(self) -> dt.tzinfo:
        """Return the zone of times: a workbook has none."""
        return self._order.period.zone

    def format_of(self, kind: str) -> Format | None:
        """Return how cells of the kind look."""
        return self._formats.get(kind)

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._table.add(row)
            if self._lines is not None:
                for line in _lines(row):
                    self._lines.add(line)

    def close(self) -> Path:
        for sheet in filter(None, (self._table, self._lines)):
            sheet.close()
        self._book.close()
        return self._path


_WIDTHS = {"text": 24, "amount": 13, "date": 12, "time": 20}
"""Widths of columns, in characters."""


class _Sheet:
    """A sheet: headings that stay in sight, then rows."""

    def __init__(self, around: _Workbook, name: str, choices: Choices) -> None:
        self._around, self._choices, self._count = around, choices, 0
        self._sheet: Worksheet = around.book.add_worksheet(name)
        bold = around.book.add_format({"bold": True})
        for column, (heading, kind) in enumerate(zip(_headings(choices), kinds_of(choices), strict=True)):
            self._sheet.set_column(column, column, max(_WIDTHS[kind], len(heading) + 2))
            self._sheet.write_string(0, column, _shown(heading), bold)
        self._sheet.freeze_panes(1, 0)

    def add(self, row: Row | LineRow) -> None:
        self._count += 1
        if self._count > MOST_ROWS:
            raise ValueError(f"a sheet takes {MOST_ROWS} rows, and there are more: choose a shorter period")
        for column, cell in enumerate(cells_of(self._choices, row)):
            self._write(column, cell)

    def close(self) -> None:
        self._sheet.autofilter(0, 0, self._count, len(self._choices) - 1)

    def _write(self, column: int, cell: Cell) -> None:
        place = (self._count, column)
        match cell:
            case None | "":
                return
            case Decimal() if Decimal(repr(float(cell))) == cell:
                self._sheet.write_number(*place, float(cell), self._around.format_of("amount"))
            case dt.datetime():
                local = cell.astimezone(self._around.zone).replace(tzinfo=None, microsecond=0)
                self._sheet.write_datetime(*place, local, self._around.format_of("time"))
            case dt.date() if cell >= FIRST_DAY:
                self._sheet.write_datetime(*place, cell, self._around.format_of("date"))
            case _:  # also numbers with more digits than Excel keeps, and dates before its first
                self._sheet.write_string(*place, _shown(cell_text(cell, self._around.zone) or ""))


def _shown(text: str) -> str:
    """Return a text as a cell of a workbook: it is never a formula there."""
    safe = printable(text, lines=True)
    return safe if len(safe) <= LONGEST_CELL else f"{safe[: LONGEST_CELL - 1]}\u2026"


class _Messages:
    """One message a line, for each page of documents."""

    def __init__(self, export: Export, folder: Path) -> None:
        self._export, self._path, self._part = export, folder / "export.jsonl", 0
        self._file = self._path.open("w", encoding="utf-8", newline="")

    def add(self, rows: Sequence[Row]) -> None:
        self._part += 1
        message = {
            "type": "documents.exported",
            "export_id": self._export.export_id,
            "part": self._part,
            "documents": [self._document(row) for row in rows],
        }
        self._file.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")

    def close(self) -> Path:
        self._file.close()
        return self._path

    def _document(self, row: Row) -> dict[str, Json]:
        order = self._export.wanted
        lines = [self._named(order.line_columns, line) for line in _lines(row)] if order.line_columns else None
        return self._named(order.columns, row) | ({} if lines is None else {"line_items": lines})

    def _named(self, choices: Choices, row: Row | LineRow) -> dict[str, Json]:
        zone = self._export.wanted.period.zone
        return {
            choice.heading or choice.name: cell_text(cell, zone)
            for choice, cell in zip(choices, cells_of(choices, row), strict=True)
        }
