"""Print the answer to a query of the lake: a table for people; JSON, CSV or Parquet for programs."""

import csv
import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import duckdb
import pyarrow as pa

from docrail.adapters.store.files import write_atomic
from docrail.adapters.store.folders import Folder
from docrail.cli.listing import ID, TEXT
from docrail.cli.tables import fits, print_blocks, print_columns
from docrail.cli.terminal import complain, say, visible, visible_json
from docrail.dag.values.csv_cells import text_cell
from docrail.dag.values.json_values import Json
from docrail.services.lake.files import Lake
from docrail.services.lake.parquet import pack
from docrail.services.lake.query import open_lake, rows_of

MOST_SHOWN = 1_000
"""Most rows of a table."""


class Shape(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def answer_query(lake: Lake, tenants: Sequence[str] | None, metrics: Folder | None, sql: str, to: Shape | str) -> int:
    """Print the answer in that shape, or write it to that Parquet file; return how many files are not compacted.

    Raises: SystemExit with DuckDB's own message, NotAQuery, OSError.
    """
    try:
        opened = open_lake(lake, tenants, metrics)
    except ValueError as error:  # a tenant that cannot be one
        raise SystemExit(str(error)) from None
    try:
        match to:
            case Shape.TABLE:
                _print_table(opened.ask(sql))
            case Shape.CSV:
                _print_csv(opened.ask(sql))
            case Shape.JSON:
                _print_json(opened.ask_json(sql))
            case _:
                _write_parquet(Path(to), opened.ask(sql).read_all())
    except duckdb.Error as error:
        raise SystemExit(str(error).partition(". Detail: Python exception:")[0]) from None
    except OverflowError as error:
        raise SystemExit(f"the answer holds a date or time that cannot be shown ({error}): cast it to text") from None
    return opened.recent_files


def _write_parquet(path: Path, answer: pa.Table) -> None:
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise SystemExit(f"--parquet {path}: expected the name of a file, in a folder that is there")
    write_atomic(path.absolute(), pack(answer))
    say(f"wrote {answer.num_rows} rows to {path}")


def _print_table(answer: pa.RecordBatchReader) -> None:
    """Print a table, or where it is too wide a block of lines for each row."""
    names, rows, left = answer.schema.names, list[list[str]](), 0
    for row in rows_of(answer):
        if len(rows) < MOST_SHOWN:
            rows.append([visible(_text(value)) for value in row])
        else:
            left += 1
    headings = [(visible(name), TEXT) for name in names]
    if fits(headings, rows):
        print_columns(headings, rows)
    else:
        print_blocks([("row", ID), *headings], [[f"row {number}", *row] for number, row in enumerate(rows, 1)])
    if not rows:
        complain("no row")
    if left:
        complain(f"{left} more rows: --csv, --json and --parquet give all")


def _print_csv(answer: pa.RecordBatchReader) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(safe_cell, answer.schema.names))
    writer.writerows(map(safe_cell, row) for row in rows_of(answer))


def _print_json(answer: pa.RecordBatchReader) -> None:
    before = "["
    for (text,) in rows_of(answer):
        sys.stdout.write(f"{before}\n{visible_json(text)}")
        before = ","
    print("[]" if before == "[" else "\n]")


def safe_cell(value: Json) -> str:
    """Return a CSV cell that neither commands a terminal nor is a formula in a spreadsheet."""
    return text_cell(_text(value))


def _text(value: Json) -> str:
    if value is None:
        return ""
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
