"""Each hour's metrics are kept once, as Parquet, and can be queried next to the lake."""

import datetime as dt
import json
import uuid
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from docrail.adapters.store.folders import LocalFolder
from docrail.services.lake.files import SNAPSHOTS, Lake
from docrail.services.lake.query import open_lake, rows_of
from docrail.services.totals.service import keep_snapshot
from tests.api.service import Service, run_background_tasks, serve
from tests.cli.process import docrail
from tests.stack import eventually

HOUR = dt.datetime(2026, 11, 21, 14, tzinfo=dt.UTC)


def place(service: Service) -> Path:
    return Path(service.settings.data_dir) / SNAPSHOTS


async def test_an_hour_is_kept_once_with_what_the_page_shows(service: Service) -> None:
    hour = HOUR.replace(month=10, day=5)
    assert await keep_snapshot(service.app, hour + dt.timedelta(minutes=7)) > 50
    file = place(service) / "2026-10-05" / "14.parquet"
    first = file.read_bytes()
    assert await keep_snapshot(service.app, hour + dt.timedelta(minutes=59)) == 0
    assert file.read_bytes() == first
    rows = pq.read_table(file).to_pylist()
    assert {(row["hour"], row["taken_at"]) for row in rows} == {(hour, hour + dt.timedelta(minutes=7))}
    kept = {(row["name"], *dict(row["labels"]).values()) for row in rows}
    assert ("docrail_workers", "working") in kept
    assert ("docrail_open_reviews",) in kept
    assert ("docrail_documents_processed_total", "failed") in kept


@pytest.mark.parametrize(
    ("setting", "address"),
    [("database_url", "postgresql://docrail@127.0.0.1:1/docrail"), ("temporal_address", "127.0.0.1:1")],
)
async def test_half_of_an_hour_is_not_kept(service: Service, setting: str, address: str) -> None:
    now = dt.datetime(2026, 10, 6, 3, tzinfo=dt.UTC)  # past: the background tasks of other tests keep today's hours
    async with serve(service.settings.model_copy(update={setting: address})) as alone:
        assert await keep_snapshot(alone.api.state.app, now) == 0
    assert not (place(service) / "2026-10-06").exists()


async def test_the_background_tasks_keep_this_hour(service: Service) -> None:
    await run_background_tasks(service)
    await eventually(
        lambda: any(place(service).glob(f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/*.parquet")), "the hour's metrics"
    )


async def test_a_query_sees_every_hour_also_without_documents(service: Service, tmp_path: Path) -> None:
    app = service.app
    for hours in range(3):
        await keep_snapshot(app, HOUR + dt.timedelta(days=hours, hours=hours))
    lake = Lake(tmp_path / f"lake-{uuid.uuid4().hex}")
    opened = open_lake(lake, metrics=LocalFolder(place(service)))
    sql = "SELECT hour, value FROM metrics WHERE name = 'docrail_open_runs' AND labels['status'] = 'waiting'"
    found: dict[dt.datetime, float] = dict(rows_of(opened.ask(sql)))
    assert {HOUR + dt.timedelta(days=hours, hours=hours) for hours in range(3)} <= found.keys()
    assert min(found.values()) >= 0
    assert list(rows_of(opened.ask("SELECT count(*) FROM invoices"))) == [(0,)]


async def test_the_command_shows_them_without_a_tenant_only(service: Service, tmp_path: Path) -> None:
    await keep_snapshot(service.app, HOUR)
    (tmp_path / SNAPSHOTS).symlink_to(place(service))
    sql = f"SELECT name, value FROM metrics WHERE hour = '{HOUR}' AND name = 'docrail_database_up'"
    shown = await docrail("lake", "query", sql, "--json", DOCRAIL_DATA_DIR=str(tmp_path))
    assert (shown.code, json.loads(shown.out)) == (0, [{"name": "docrail_database_up", "value": 1.0}])
    refused = await docrail("lake", "query", sql, "--tenant", "acme", DOCRAIL_DATA_DIR=str(tmp_path))
    assert refused.code == 1
