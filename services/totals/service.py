"""Load the metrics of the whole installation: for the API's metrics page, and for the hourly snapshots."""

import asyncio
import datetime as dt

from prometheus_client.registry import Collector

from docrail.adapters.postgres.tenants import all_tenants
from docrail.services.app import App, in_time
from docrail.services.batches.service import count_all_open
from docrail.services.documents.service import load_counts
from docrail.services.lake.files import SNAPSHOTS
from docrail.services.reviews.items import load_review_counts
from docrail.services.totals.counters import BatchTotals, DocumentMetrics, ModelTotals, ReviewTotals
from docrail.services.totals.gauges import load_gauges
from docrail.services.usage.service import load_model_totals


async def load_totals(app: App) -> list[Collector]:
    """Return the metrics as they are now. What does not answer in time is left out. Never raises for that."""
    # In parallel: each may wait for a database that hangs.
    with all_tenants():  # the totals name none of them
        documents, models, reviews, batches, gauges = await asyncio.gather(
            in_time(load_counts(app.db)),
            in_time(load_model_totals(app.db)),
            in_time(load_review_counts(app.db)),
            in_time(count_all_open(app)),
            load_gauges(app),
        )
    return [DocumentMetrics(documents), ModelTotals(models or ()), ReviewTotals(reviews), BatchTotals(batches), gauges]


ANSWERED = frozenset({"docrail_database_up", "docrail_temporal_up"})


async def keep_snapshot(app: App, now: dt.datetime) -> int:
    """Store this hour's metrics, and return how many samples; 0 if they are stored already.

    While PostgreSQL or Temporal does not answer nothing is stored: a later call of the same hour does it. Of concurrent
    callers, the last one's values stay. Raises: OSError.
    """
    hour = now.replace(minute=0, second=0, microsecond=0)
    folder, path = app.store.sub(SNAPSHOTS), f"{hour:%Y-%m-%d}/{hour:%H}.parquet"
    if await asyncio.to_thread(folder.stat, path):
        return 0
    families = [family for collector in await load_totals(app) for family in collector.collect()]
    samples = [sample for family in families for sample in family.samples]
    if not all(sample.value for sample in samples if sample.name in ANSWERED):
        return 0

    def store() -> None:
        from docrail.services.lake.snapshots import encode_snapshot  # noqa: PLC0415  # pyarrow: only workers need its memory

        folder.write(path, encode_snapshot(hour, now, samples))

    await asyncio.to_thread(store)
    return len(samples)
