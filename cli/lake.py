"""`docrail lake`: query what was extracted, and keep it fast."""

import asyncio
import sys
from contextlib import suppress
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.adapters.store.folders import Folder
from docrail.cli.printout import Printout
from docrail.cli.terminal import complain
from docrail.invoices.model import FIELD_NAMES
from docrail.services.errors import Unavailable
from docrail.services.lake.files import SNAPSHOTS, Lake

if TYPE_CHECKING:
    from docrail.settings import Settings

LONGEST_CHECK_SECONDS = 3.0
MANY_FILES = 2_000
"""Small files that make a query noticeably slow."""


Sql = Annotated[str, typer.Argument(help="One statement that reads; `-` takes it from stdin.", metavar="SQL|-")]
AsJsonList = Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")]
ToParquet = Annotated[str | None, typer.Option("--parquet", help="Write a Parquet file.", metavar="FILE")]
Tenants = Annotated[
    list[str] | None, typer.Option("--tenant", help="Only this tenant's documents; may be repeated.", metavar="NAME")
]
_COLUMNS = ", ".join(("document_id", "version", "saved_at", "status", *FIELD_NAMES, "issue_month", "confidence", "..."))
_INDENT = 14 * " "
HELP = f"""Ask the lake with SQL, in DuckDB's dialect.

It has three views of documents. Each document is in them once, in its latest version:

\b
  invoices    {fill(_COLUMNS, 76, initial_indent=_INDENT, subsequent_indent=_INDENT).lstrip()}
  line_items  document_id, status, vendor_name, invoice_number, date,
              currency, line_number, description, quantity, unit_price, amount, ...
  fields      document_id, status, name, value, confidence, source, page,
              box, locked, locked_by, candidates, ...

Without --tenant there is also what the API's metrics page showed each hour:

\b
  metrics     hour, taken_at, name, labels, value

`status` is the decision of people: approved, rejected, or open.

The files are those of DOCRAIL_STORE, or of DOCRAIL_DATA_DIR; no server has to run. Amounts are exact decimals. The
SQL only reads, and reads nothing but these views.

Exit codes: 0 answered, 1 the SQL is wrong, or there is no lake; 2 wrong usage.

\b
Example: docrail lake query "DESCRIBE invoices"
Others:
  docrail lake query "SELECT vendor_name, currency, sum(total) FROM invoices
                 WHERE status = 'approved' GROUP BY ALL ORDER BY 3 DESC"
  docrail lake query "SELECT name, avg(confidence), count(*) FILTER (locked)
                 FROM fields GROUP BY name" --csv
  docrail lake query "SELECT * FROM line_items
                 WHERE issue_month = '2026-11' AND amount > 1000" --json
  docrail lake query "SELECT hour, value FROM metrics
                 WHERE name = 'docrail_open_reviews' ORDER BY hour"
  docrail lake query "FROM invoices" --parquet invoices.parquet
"""  # noqa: S608  # a help text


def query(
    context: typer.Context,
    sql: Sql,
    as_json: AsJsonList = False,
    as_csv: AsCsv = False,
    parquet: ToParquet = None,
    tenant: Tenants = None,
) -> None:
    """Ask the lake with SQL; the help that is shown is HELP."""
    if sum((as_json, as_csv, parquet is not None)) > 1:
        raise typer.BadParameter("at most one of --json, --csv and --parquet")
    from docrail.cli import lake_answer  # DuckDB and pyarrow: no other command needs their memory

    settings = context.obj()
    store = settings.open_store()
    check_store_of(settings, store)
    lake = Lake(store.sub("lake"))
    shape = lake_answer.Shape.JSON if as_json else lake_answer.Shape.CSV if as_csv else lake_answer.Shape.TABLE
    metrics = None if tenant else store.sub(SNAPSHOTS)  # they are of all tenants
    files = lake_answer.answer_query(lake, tenant, metrics, sys.stdin.read() if sql == "-" else sql, parquet or shape)
    if files > MANY_FILES:
        complain(f"{files} documents are not compacted yet, which makes this slow: `docrail lake compact` does it now")


query.__doc__ = HELP


def check_store_of(settings: "Settings", store: Folder) -> None:
    """Refuse the store of another database, if the settings name a database and it answers. Raises: WrongStore."""
    if "database_url" in settings.model_fields_set:
        with suppress(OSError, TimeoutError, *DATABASE_ERRORS):  # the files can be queried without any server
            asyncio.run(_check_store(settings.database_url, store))


async def _check_store(dsn: str, store: Folder) -> None:
    from docrail.adapters.postgres.pool import open_pool
    from docrail.services.fleet.store_identity import check_store

    async with asyncio.timeout(LONGEST_CHECK_SECONDS):
        pool = await open_pool(dsn, min_size=1, max_size=1)
        try:
            await check_store(pool, store)
        finally:
            pool.terminate()


def compact(context: typer.Context) -> Printout:
    """Compact the lake and delete what is too old, now.

    Temporal starts this round by itself, on DOCRAIL_MAINTENANCE_SCHEDULE; a worker does it. Runs and queries go on
    meanwhile. Ctrl-C ends the waiting, not the round.

    Example: docrail lake compact
    """
    from docrail.services.engine import temporal_unreachable
    from docrail.services.maintenance.service import run_maintenance

    settings = context.obj()
    connection = settings.temporal_connection()
    try:
        report = asyncio.run(run_maintenance(connection, settings.task_queue))
    except Unavailable as error:
        raise SystemExit(temporal_unreachable(error, connection)) from None
    done, size = report.compacted, f"{report.compacted.size_bytes / 1e6:.1f} MB"
    removed = (report.removed_files, report.removed_values, report.removed_originals, report.removed_rows)
    lines = [
        f"merged {done.files} files of {report.tenants} tenants into {done.parts}, of {size}",
        "deleted {} replaced files, {} stored values, {} originals, {} expired rows".format(*removed),
    ]
    return Printout(report.model_dump(mode="json"), lines)
