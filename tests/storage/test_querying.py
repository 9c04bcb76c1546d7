"""SQL over the lake: it reads the views, and gets at nothing else."""

from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from storage.compaction import compact
from storage.lake import Lake
from storage.lake_versions import LakeVersion
from storage.manifest import ManifestDamaged
from storage.parquet import LakeFileDamaged
from storage.querying import NotAQuery, open_lake, rows_of
from tests.s3 import Bucket
from tests.storage.lakes import NOW, ask, of_month, save

SECRET = pa.table({"a table": ["of ours"]})


@pytest.fixture
async def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    await save(made, of_month("doc_1", "2026-10", "1"))
    compact(made.of("acme"), now=NOW)
    await save(made, of_month("doc_2", "2026-11", "2"))
    return made


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("SELECT * FROM read_text('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM '/etc/passwd'", "does not exist"),
        ("SELECT * FROM read_text('.tmp/own')", "disabled by configuration"),
        ("SELECT * FROM glob('.tmp/*')", "disabled"),
        ("SELECT * FROM read_parquet('https://example.com/x')", "disabled"),
        ("SELECT * FROM glob('/*')", "disabled"),
        ("SELECT getenv('HOME')", "getenv does not exist"),
        ("SELECT * FROM SECRET", "does not exist"),
        ("FROM recent", "does not exist"),
        ("FROM compacted", "does not exist"),
        ("FROM duckdb_secrets(); SELECT 1", "found 2 statements"),
        ("", "found 0 statements"),
        ("INSERT INTO invoices SELECT * FROM invoices", "found INSERT"),
        ("CREATE TABLE x AS FROM invoices", "found CREATE"),
        ("COPY invoices TO 'out.csv'", "found COPY"),
        ("ATTACH 'x.db'", "found ATTACH"),
        ("INSTALL httpfs", "found LOAD"),
        ("SET enable_external_access = true", "found SET"),
        ("PRAGMA enable_external_access = true", "found"),
        ("CALL pragma_version()", "found CALL"),
    ],
)
def test_the_sql_only_reads_and_only_the_views(lake: Lake, sql: str, complaint: str) -> None:
    opened = open_lake(lake)
    with pytest.raises((duckdb.Error, NotAQuery), match=complaint):
        list(rows_of(opened.ask(sql)))
    assert list(rows_of(opened.ask("SELECT count(*) FROM invoices"))) == [(2,)]


@pytest.mark.parametrize("sql", ["DESCRIBE invoices", "SUMMARIZE invoices", "EXPLAIN FROM fields", "SHOW TABLES"])
def test_questions_about_the_views_are_questions_too(lake: Lake, sql: str) -> None:
    assert ask(lake, sql)


def test_there_are_three_views_and_nothing_else(lake: Lake) -> None:
    assert [name for (name,) in ask(lake, "SHOW TABLES")] == ["fields", "invoices", "line_items"]


def test_only_the_months_that_are_asked_for_are_read(lake: Lake) -> None:
    compact(lake.of("acme"), now=NOW)
    [part] = lake.of("acme").files("compacted/issue_month=2026-10")
    lake.of("acme").write(part.path, b"no parquet")
    assert ask(lake, "SELECT total FROM invoices WHERE issue_month = '2026-11'") == [(Decimal(2),)]
    with pytest.raises((duckdb.Error, OSError), match=r"issue_month=2026-10/part-"):
        ask(lake, "SELECT sum(total) FROM invoices")


def test_times_are_in_utc_and_amounts_exact(lake: Lake) -> None:
    sql = "SELECT saved_at, total, {'at': saved_at} FROM invoices WHERE document_id = 'doc_1'"
    assert ask(lake, sql) == [(NOW, Decimal(1), {"at": NOW})]
    assert ask(lake, "SELECT saved_at::text FROM invoices LIMIT 1") == [("2026-11-21 03:00:00+00",)]


def test_a_manifest_that_is_none_is_named(lake: Lake) -> None:
    lake.of("acme").write("compacted/manifest.json", b"[]")
    with pytest.raises(ManifestDamaged, match=r"compacted/manifest\.json is no manifest that Docrail wrote"):
        open_lake(lake)


async def test_a_small_file_that_is_none_is_told(lake: Lake) -> None:
    (lake.root / "acme" / "parquet" / "doc_9.v1.parquet").write_bytes(b"PAR1")
    with pytest.raises(LakeFileDamaged, match=r"parquet/doc_9\.v1\.parquet is no Parquet file that Docrail wrote"):
        open_lake(lake)


async def test_in_s3_parts_are_read_in_pieces(bucket: Bucket) -> None:
    lake = Lake(bucket.folder)
    for number in range(3):
        await lake.write_parquet("acme", of_month(f"doc_{number}", "2026-11", "2"), LakeVersion(1, NOW))
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_9", "2026-11", "4"))
    assert ask(lake, "SELECT sum(total), count(*) FROM invoices") == [(Decimal(10), 4)]
    assert ask(lake, "SELECT count(*) FROM line_items") == [(8,)]
