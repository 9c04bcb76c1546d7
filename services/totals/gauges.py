"""Show on the metrics page what waits now, and who works on it: task queues, workers, runs, reviews, failures, space.

Every API process shows the same values: take the maximum, not the sum. What does not answer is left out, because a 0
would look as if nothing waited.
"""

import asyncio
import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from docrail.services.app import App, in_time
from docrail.services.failures.service import count_all_open as count_failures
from docrail.services.fleet.models import Fleet, WorkerState
from docrail.services.fleet.workers import show_fleet
from docrail.services.reviews.items import count_all_open as count_reviews
from docrail.services.reviews.models import OpenReviews
from docrail.services.runs.views.lists import count_all_open as count_runs
from docrail.services.usage.service import load_spent_today


async def load_gauges(app: App) -> "Gauges":
    """Ask everything at once; each may wait for a service that hangs."""
    fleet, runs, reviews, failures, free, spent = await asyncio.gather(
        in_time(show_fleet(app)),
        in_time(count_runs(app)),
        in_time(count_reviews(app.db)),
        in_time(count_failures(app.db)),
        in_time(_free_bytes(app)),
        in_time(load_spent_today(app.db)),
    )
    return Gauges(fleet, runs, reviews, failures, free, spent, app.budgets.per_day)


async def _free_bytes(app: App) -> int | None:
    """Return the free space of the store; 0 if its disk is full: an alert must see that too."""
    try:
        return await app.blobs.probe()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return 0


@dataclass(frozen=True, slots=True)
class Gauges(Collector):
    """The values of one scrape; None: not known at present."""

    fleet: Fleet | None
    runs: Mapping[str, int] | None
    reviews: OpenReviews | None
    failures: Mapping[str, int] | None
    free_bytes: int | None
    spent_today: Decimal | None
    budget: Decimal | None

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        up = self.fleet is not None or self.runs is not None
        yield _gauge("docrail_temporal_up", "1 if Temporal answered, else 0", up)
        if self.fleet is not None:
            yield from _fleet(self.fleet)
        if self.runs is not None:
            yield _labelled("docrail_open_runs", "Runs that have not ended, by status", "status", self.runs)
        if self.reviews is not None:
            yield _gauge("docrail_open_reviews", "Review items that no one has decided", self.reviews.open)
            yield _gauge("docrail_overdue_reviews", "Those among them whose SLA has passed", self.reviews.overdue)
        if self.failures is not None:
            words = "Failures in the dead-letter inbox that no one has resolved, by status"
            yield _labelled("docrail_open_failures", words, "status", self.failures)
        if self.free_bytes is not None:
            yield _gauge("docrail_store_free_bytes", "Free space of the file store's disk", self.free_bytes)
        if self.spent_today is not None:
            words = "Cost of models' answers since midnight UTC, in the price table's currency"
            yield _gauge("docrail_model_spent_today", words, float(self.spent_today))
        if self.budget is not None:
            yield _gauge("docrail_model_budget", "What models' answers may cost in a day", float(self.budget))


def _fleet(fleet: Fleet) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        "docrail_queue_waiting", "Tasks that wait for a worker or a limit, about", labels=["queue", "tasks"]
    )
    oldest = GaugeMetricFamily(
        "docrail_queue_oldest_wait_seconds", "How long the oldest of them has waited", labels=["queue", "tasks"]
    )
    for queue in fleet.queues:
        waiting.add_metric([queue.queue, queue.tasks], queue.waiting)
        oldest.add_metric([queue.queue, queue.tasks], queue.oldest_wait_seconds)
    states = [worker.state for worker in fleet.workers]
    workers = {state.value: states.count(state) for state in WorkerState}
    yield from (waiting, oldest, _labelled("docrail_workers", "Worker processes, by state", "state", workers))


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value=value)


def _labelled(name: str, words: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
