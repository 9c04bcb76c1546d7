"""Open the lake for SQL: each document once, in its latest version, also during a compaction.

The SQL can access only these views: no files and no network, and it cannot change settings. Imports pyarrow and
DuckDB: import this module lazily.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar, cast

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.folders import Folder
from docrail.dag.values.json_values import Json
from docrail.services.lake.compaction import latest, month_of
from docrail.services.lake.files import Lake, saved_in
from docrail.services.lake.manifest import read_manifest
from docrail.services.lake.models import Saved
from docrail.services.lake.parquet import LAKE_SCHEMA_VERSION, SCHEMA, joined, read_document, read_rows
from docrail.services.lake.snapshots import SNAPSHOT

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",  # DuckDB trusts its temporary directory, `.tmp` by default, so SQL could read it
    "memory_limit": "2GB",  # larger queries are refused, as there is no directory to spill to
}
READ_AT_ONCE = 16
"""Number of small files read in parallel."""
BATCH_ROWS = 1_000
T = TypeVar("T")

_MONTH = pa.field("issue_month", pa.string())
_ROWS = SCHEMA.append(_MONTH)

_SAME_DOCUMENT = "recent.tenant_id = compacted.tenant_id AND recent.document_id = compacted.document_id"
_REPLACED = f"{_SAME_DOCUMENT} AND recent.version > compacted.version"
_OUTDATED = f"{_SAME_DOCUMENT} AND compacted.version >= recent.version"
"""Selects the rows that are replaced by later ones. It reads the versions of all parts, whatever the query asks for, so
it is meant for the time between two compactions."""

VIEWS = {
    "line_items": """
SELECT tenant_id, document_id, status, vendor_name, invoice_number, date, issue_month, currency, line_number,
       unnest(item)
  FROM (SELECT *, generate_subscripts(line_items, 1) AS line_number, unnest(line_items) AS item FROM invoices)""",
    "fields": """
SELECT tenant_id, document_id, status, issue_month, unnest(field)
  FROM (SELECT tenant_id, document_id, status, issue_month, unnest(fields) AS field FROM invoices)""",
}


class NotALake(StorageError):  # noqa: N818  # a statement about the folder
    """No saved documents here: a wrong folder, a wrong tenant, or nothing saved yet."""

    def __init__(self, folder: Folder, tenants: Sequence[str] | None) -> None:
        whose = f" of {', '.join(tenants)}" if tenants else ""
        check = "check DOCRAIL_STORE and DOCRAIL_DATA_DIR, or save a document first"
        super().__init__(f"{folder} holds no saved documents{whose}: {check}")


class NotAQuery(StorageError):  # noqa: N818  # a statement about the SQL
    """The SQL is not exactly one read-only statement."""

    def __init__(self, found: str) -> None:
        super().__init__(f"expected one statement that reads, such as SELECT, SUMMARIZE or DESCRIBE; found {found}")


@dataclass(frozen=True, slots=True)
class OpenLake:
    """Views over some tenants' invoices. `recent_files`: files not compacted yet, which are the slowest to read."""

    connection: duckdb.DuckDBPyConnection
    recent_files: int

    def ask(self, sql: str) -> pa.RecordBatchReader:
        """Return the result in batches. Raises: duckdb.Error with DuckDB's message, NotAQuery."""
        self._check(sql)
        return self._answer(sql)

    def ask_json(self, sql: str) -> pa.RecordBatchReader:
        """Return the result as one column of JSON objects with exact decimals. Raises: as `ask`."""
        self._check(sql)
        return self._answer(f"SELECT to_json(answer) FROM (\n{_bare(sql)}\n) AS answer")  # noqa: S608  # is SQL

    def _check(self, sql: str) -> None:
        statements = self.connection.extract_statements(sql)
        if len(statements) != 1:
            raise NotAQuery(f"{len(statements)} statements")
        try:
            kind = statements[0].type
        except ValueError:  # a statement without a name in DuckDB's Python module, such as UPDATE EXTENSIONS
            raise NotAQuery("a statement of another kind") from None
        if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            raise NotAQuery(kind.name)

    def _answer(self, sql: str) -> pa.RecordBatchReader:
        return cast("pa.RecordBatchReader", self.connection.sql(sql).to_arrow_reader(BATCH_ROWS))


def rows_of(answer: pa.RecordBatchReader) -> Iterator[tuple[Json, ...]]:
    """Yield the rows of a result: amounts as Decimal, times in UTC, structs and lists as dicts and lists."""
    for batch in answer:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def open_lake(lake: Lake, tenants: Sequence[str] | None = None, metrics: Folder | None = None) -> OpenLake:
    """Return the views over the files of `tenants`, by default all, and over snapshots in `metrics`. Blocking.

    Raises: NotALake, OSError, ManifestDamaged, LakeFileDamaged, ValueError (an invalid tenant id).
    """
    parts: list[str] = []
    other: list[pa.Table] = []
    recent: list[pa.Table] = []
    for tenant_id in tenants if tenants is not None else lake.tenants():
        tenant = lake.of(tenant_id)
        recent += _load(partial(_read_small, tenant), latest(saved_in(tenant, "parquet")))
        manifest = read_manifest(tenant).manifest  # read last: it covers small files that were deleted meanwhile
        todays = [part for part in manifest.parts if part.schema_version == LAKE_SCHEMA_VERSION]
        parts += [f"{tenant_id}/{part.path}" for part in todays]
        other += _load(partial(read_rows, tenant), [part.path for part in manifest.parts if part not in todays])
    snapshots = [] if metrics is None else sorted(file.path for file in metrics.files())
    if not (parts or other or recent or snapshots):
        raise NotALake(lake.folder, tenants)
    connection = duckdb.connect(":memory:", config=CONFIG)
    # The relations stay unnamed, so that queries can only use the views, which show each document once.
    months = ds.partitioning(pa.schema([_MONTH]), flavor="hive")
    current = connection.from_arrow(_dataset(lake.folder, parts, _ROWS, months))
    compacted = current.union(connection.from_arrow(_with_month(joined(other))))  # of earlier and later releases
    if recent:
        compacted = _latest(compacted.set_alias("compacted"), connection.from_arrow(_with_month(joined(recent))))
    compacted.create_view("invoices")
    for name, select in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {select}")
    if metrics is not None:
        connection.from_arrow(_dataset(metrics, snapshots, SNAPSHOT)).create_view("metrics")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET lock_configuration = true")
    return OpenLake(connection, len(recent))


def _latest(compacted: duckdb.DuckDBPyRelation, recent: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    recent = recent.set_alias("recent")
    return compacted.join(recent, _REPLACED, how="anti").union(recent.join(compacted, _OUTDATED, how="anti"))


def _bare(sql: str) -> str:
    return sql.strip().rstrip(";")


def _read_small(tenant: Folder, saved: Saved) -> pa.Table | None:
    try:
        return read_document(tenant, saved.path, saved.document_id, saved.version)
    except FileNotFoundError:  # compacted since it was listed
        return None


def _load(read: Callable[[T], pa.Table | None], files: Sequence[T]) -> list[pa.Table]:
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        return [table for table in pool.map(read, files) if table is not None]


def _with_month(table: pa.Table) -> pa.Table:
    months = [month_of(date) for date in table["date"].to_pylist()]
    return table.append_column(_MONTH, pa.array(months, pa.string()))


def _dataset(
    folder: Folder, paths: Sequence[str], schema: pa.Schema, partitioning: ds.Partitioning | None = None
) -> ds.Dataset:
    """Return the files as one dataset that reads only the columns and partitions that a query needs."""
    if not paths:
        return ds.dataset(schema.empty_table())
    local = folder.local_path("")
    files = fs.PyFileSystem(_Files(folder)) if local is None else fs.SubTreeFileSystem(str(local), fs.LocalFileSystem())
    made = ds.dataset(list(paths), schema=schema, format="parquet", filesystem=files, partitioning=partitioning)
    if local is not None:
        return made
    return _OneAfterTheOther([*made.get_fragments()], made.schema, made.format, made.filesystem)


class _OneAfterTheOther(ds.FileSystemDataset):
    """Files that Python code reads: no other thread may be in it when a scan fails.

    Pyarrow ends a multi-threaded scan while holding the interpreter's lock and waits for its threads, which
    wait for the lock: a query while S3 is unavailable would never end.
    """

    def scanner(self, *arguments: Any, **options: Any) -> ds.Scanner:
        return super().scanner(*arguments, **options | {"use_threads": False})


class _Files(fs.FileSystemHandler):
    """Adapt a folder to pyarrow's file system interface. Read-only; pyarrow requests only the files that are named."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def get_type_name(self) -> str:
        return "docrail"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: str | list[str]) -> list[fs.FileInfo]:
        return [self._info(path) for path in ([paths] if isinstance(paths, str) else paths)]

    def open_input_file(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(self._folder.open(path), mode="r")

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)

    def _info(self, path: str) -> fs.FileInfo:
        found = self._folder.stat(path)
        kind = fs.FileType.File if found else fs.FileType.NotFound
        return fs.FileInfo(path, kind, size=found.size if found else None)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise io.UnsupportedOperation("this folder is only read")

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse
    delete_file = move = copy_file = open_output_stream = open_append_stream = _refuse
