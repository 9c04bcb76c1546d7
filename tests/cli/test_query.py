"""`docrail lake query`: answers in four shapes, DuckDB's own words where the SQL is wrong, and nothing but the lake."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from docrail.adapters.store.folders import LocalFolder
from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
from docrail.services.lake.query import open_lake
from tests.cli.process import Ended, docrail
from tests.services.lakes import NOW, of_month, save

TOTALS = "SELECT document_id, total, line_items FROM invoices ORDER BY document_id"


@pytest.fixture
async def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    await save(made, of_month("doc_1", "2026-10", "99999999999999.9999"))
    compact(made.of("acme"), now=NOW)
    await save(made, of_month("doc_2", None, "2"))
    await save(made, of_month("doc_3", "2026-11", "3"), tenant="globex")
    return made


async def query(lake: Lake, *arguments: str) -> Ended:
    return await docrail("lake", "query", *arguments, DOCRAIL_DATA_DIR=str(lake.root.parent))


async def test_a_table_for_people(lake: Lake) -> None:
    shown = await query(lake, "SELECT tenant_id, count(*) AS n FROM invoices GROUP BY 1 ORDER BY 1")
    assert (shown.code, shown.err) == (0, "")
    assert [line.split() for line in shown.out.splitlines() if "─" not in line] == [
        ["tenant_id", "n"],
        ["acme", "2"],
        ["globex", "1"],
    ]


async def test_json_csv_and_parquet_keep_amounts_exact(lake: Lake, tmp_path: Path) -> None:
    exact = ["99999999999999.9999", "2.0000", "3.0000"]
    as_json = json.loads((await query(lake, f"{TOTALS} -- all", "--json")).out, parse_float=str)
    assert [row["total"] for row in as_json] == exact
    assert as_json[0]["line_items"][0]["description"] == "Schraube"
    rows = list(csv.DictReader(io.StringIO((await query(lake, f"{TOTALS};", "--csv")).out)))
    assert [row["total"] for row in rows] == exact
    assert json.loads(rows[0]["line_items"])[0]["description"] == "Schraube"
    written = await query(lake, TOTALS, "--parquet", str(tmp_path / "out.parquet"))
    assert (written.code, written.err) == (0, "")
    assert pq.read_table(tmp_path / "out.parquet")["total"].to_pylist() == [Decimal(total) for total in exact]


async def test_lines_and_fields_are_views_of_their_own(lake: Lake) -> None:
    lines = await query(
        lake, "SELECT line_number, description, amount FROM line_items WHERE document_id = 'doc_1' ORDER BY 1", "--csv"
    )
    assert lines.out == "line_number,description,amount\n1,Schraube,100.1000\n2,,\n"
    fields = await query(
        lake, "SELECT value, source FROM fields WHERE document_id = 'doc_3' AND name = 'total'", "--csv"
    )
    assert fields.out == "value,source\n3,text_label\n"


async def test_one_tenants_documents_only(lake: Lake) -> None:
    assert (await query(lake, "SELECT document_id FROM invoices", "--csv", "--tenant", "globex")).out == (
        "document_id\ndoc_3\n"
    )


async def test_a_folder_that_is_no_lake_is_an_error(tmp_path: Path) -> None:
    other = Lake(tmp_path / "none" / "lake")
    ended = await query(other, "FROM invoices", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert f"docrail: {other.root} holds no saved documents: check DOCRAIL_STORE" in ended.err


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("SELECT totl FROM invoices", 'Candidate bindings: "total"'),
        ("UPDATE EXTENSIONS", "found a statement of another kind"),
        ("DROP VIEW invoices", "expected one statement that reads, such as SELECT, SUMMARIZE or DESCRIBE; found DROP"),
    ],
)
async def test_an_error_in_the_sql_is_printed_to_stderr(lake: Lake, sql: str, complaint: str) -> None:
    ended = await query(lake, sql, "--json")
    assert (ended.code, ended.out) == (1, "")
    assert complaint in ended.err
    assert "Traceback" not in ended.err


async def test_help_teaches_by_examples_that_work(lake: Lake) -> None:
    printed = (await docrail("lake", "query", "--help")).out
    examples = [part.partition('"')[0] for part in printed.split('docrail lake query "')[1:]]
    assert len(examples) >= 4
    for sql in examples:
        open_lake(lake, metrics=LocalFolder(lake.root.parent / "metrics")).ask(sql)


async def test_one_shape_at_a_time(lake: Lake) -> None:
    ended = await query(lake, "SELECT 1", "--json", "--csv")
    assert (ended.code, "at most one of --json, --csv and --parquet" in ended.err) == (2, True)


async def test_a_row_too_wide_for_a_table_is_a_block_of_lines(lake: Lake) -> None:
    shown = await query(lake, "FROM invoices ORDER BY document_id")
    assert (shown.code, shown.err) == (0, "")
    assert [line for line in shown.out.splitlines() if line.startswith("row")] == ["row 1", "row 2", "row 3"]
    assert ["document_id", "doc_1"] in [line.split() for line in shown.out.splitlines()]


async def test_an_answer_without_rows_says_so(lake: Lake) -> None:
    shown = await query(lake, "FROM invoices WHERE document_id = 'doc_0'")
    assert (shown.code, shown.out, shown.err) == (0, "", "docrail: no row\n")


async def test_a_parquet_file_goes_where_a_file_can_be(lake: Lake, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "out.parquet"):
        refused = await query(lake, TOTALS, "--parquet", str(place))
        assert (refused.code, refused.out) == (1, "")
        assert refused.err == f"docrail: --parquet {place}: expected the name of a file, in a folder that is there\n"


@pytest.mark.parametrize("sql", ["SELECT 'infinity'::date AS day", "SELECT '-infinity'::timestamp AS time"])
async def test_a_date_that_cannot_be_shown_is_reported(lake: Lake, sql: str) -> None:
    ended = await query(lake, sql)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("docrail: the answer holds a date or time that cannot be shown")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("columns", ["", ", *"])
async def test_no_answer_commands_the_terminal(lake: Lake, columns: str) -> None:
    ended = await query(lake, f"SELECT chr(27) || '[2J' AS text{columns} FROM invoices")
    assert "\\x1b[2J" in ended.out
    assert "\x1b" not in ended.out
