"""SQL over the lake: it reads the views, and gets at nothing else."""

import asyncio
import subprocess
import sys
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
from docrail.services.lake.manifest import ManifestDamaged
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.parquet import LakeFileDamaged
from docrail.services.lake.query import NotALake, NotAQuery, open_lake, rows_of
from tests.s3 import Bucket
from tests.services.lakes import NOW, ask, of_month, save

PATIENCE_SECONDS = 60.0
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
        ("UPDATE EXTENSIONS", "found a statement of another kind"),
        ("EXPLAIN ANALYZE COPY invoices TO 'out.csv'", "disabled by configuration"),
        ("WITH x AS (INSERT INTO invoices FROM invoices) SELECT 1", "not an table"),
        ("SELECT * FROM query('FROM read_csv(''/etc/passwd'')')", "disabled by configuration"),
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
    with pytest.raises(ManifestDamaged, match=r"compacted/manifest\.json is not a manifest that Docrail wrote"):
        open_lake(lake)


def test_a_folder_without_saved_documents_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(NotALake, match=f"{tmp_path} holds no saved documents: check DOCRAIL_STORE"):
        open_lake(Lake(tmp_path))


def test_a_tenant_without_saved_documents_is_named(lake: Lake) -> None:
    with pytest.raises(NotALake, match=r"holds no saved documents of globex, initech"):
        open_lake(lake, ["globex", "initech"])
    assert list(rows_of(open_lake(lake, ["acme", "globex"]).ask("SELECT count(*) FROM invoices"))) == [(2,)]


async def test_a_small_file_that_is_no_parquet_is_reported(lake: Lake) -> None:
    (lake.root / "acme" / "parquet" / "doc_9.v1.parquet").write_bytes(b"PAR1")
    with pytest.raises(LakeFileDamaged, match=r"parquet/doc_9\.v1\.parquet is not a Parquet file that Docrail wrote"):
        open_lake(lake)


async def test_in_s3_parts_are_read_in_pieces(bucket: Bucket) -> None:
    lake = Lake(bucket.folder)
    for number in range(3):
        await lake.write_parquet("acme", of_month(f"doc_{number}", "2026-11", "2"), LakeVersion(1, NOW))
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_9", "2026-11", "4"))
    assert ask(lake, "SELECT sum(total), count(*) FROM invoices") == [(Decimal(10), 4)]
    assert ask(lake, "SELECT count(*) FROM line_items") == [(8,)]


ASK_WHAT_IS_AWAY = """
import sys, threading
from pathlib import Path
from docrail.services.lake.files import Lake
from docrail.services.lake.query import open_lake

class Remote:  # a service that goes away once the lake is open; a refusal takes its time
    def __init__(self, folder):
        self.folder = folder
    def __getattr__(self, name):
        return getattr(self.folder, name)
    def local_path(self, path):
        return None
    def open(self, path):
        threading.Event().wait(0.01)
        raise OSError("the service is away")

lake = Lake(Path(sys.argv[1]))
lake.folder = Remote(lake.folder)
for _ in range(40):
    try:
        list(open_lake(lake).ask("SELECT sum(total) FROM invoices"))
    except Exception as error:
        print(error)
"""


async def test_a_query_ends_when_the_service_becomes_unavailable(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    for month in (1, 2):
        await save(lake, of_month(f"doc_{month}", f"2026-{month:02d}"))
    compact(lake.of("acme"), now=NOW)
    command = [sys.executable, "-c", ASK_WHAT_IS_AWAY, str(lake.root)]  # in a process that may hang
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            reported, _ = await child.communicate()
        finally:
            with suppress(ProcessLookupError):
                child.kill()
    assert reported.count(b"IOError: the service is away") == 40
