"""Prints what a query of the lake gives: a table for people; JSON, CSV or Parquet for programs."""

import csv
import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import duckdb
import pyarrow as pa

from commands.speaking import complain, console, table
from dag.values import Json
from storage.files import write_atomic
from storage.lake import Lake
from storage.parquet import pack
from storage.querying import open_lake, rows_of

MOST_SHOWN = 1_000
"""Rows of a table: more of them nobody reads."""


class Shape(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def answer_query(lake: Lake, tenants: Sequence[str] | None, sql: str, to: Shape | str) -> int:
    """Print the answer in that shape, or write it to that Parquet file; return how many files are not compacted.

    Raises: SystemExit with DuckDB's own message, NotAQuery, OSError.
    """
    try:
        opened = open_lake(lake, tenants)
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
                write_atomic(Path(to).absolute(), pack(opened.ask(sql).read_all()))
    except duckdb.Error as error:
        raise SystemExit(str(error)) from None
    return opened.recent_files


def _print_table(answer: pa.RecordBatchReader) -> None:
    shown = table()
    for name in answer.schema.names:
        shown.add_column(name, overflow="fold")
    left = 0
    for number, row in enumerate(rows_of(answer)):
        if number < MOST_SHOWN:
            shown.add_row(*map(_text, row))
        else:
            left += 1
    console().print(shown)
    if left:
        complain(f"{left} more rows: --csv, --json and --parquet give all")


def _print_csv(answer: pa.RecordBatchReader) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.schema.names)
    writer.writerows(map(_text, row) for row in rows_of(answer))


def _print_json(answer: pa.RecordBatchReader) -> None:
    before = "["
    for (text,) in rows_of(answer):
        sys.stdout.write(f"{before}\n{text}")
        before = ","
    print("[]" if before == "[" else "\n]")


def _text(value: Json) -> str:
    if value is None:
        return ""
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
