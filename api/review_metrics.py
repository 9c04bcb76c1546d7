"""What reviewers did, as Prometheus metrics: totals out of PostgreSQL, the same on every API process.

Straight-through rate: `docrail_straight_through_total{result="passes"}` over the sum of its results; its error rate:
`docrail_audit_sample_total{result="wrong"}` over the sum. Touch rate: touched decisions over all. Seconds per review:
`docrail_review_seconds_sum` over `docrail_review_seconds_count`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector

from storage.review_counts import (
    CORRECTIONS,
    DECISIONS,
    REVIEWED,
    SAMPLED,
    SECONDS,
    SLA,
    STRAIGHT_THROUGH,
    TOUCHED,
    ReviewCount,
)

COUNTERS = {
    DECISIONS: ("docrail_review_decisions", "Documents that people decided", "outcome", ("approved", "rejected")),
    TOUCHED: (
        "docrail_review_touched_decisions",
        "Those among them in which somebody corrected a field",
        "outcome",
        ("approved", "rejected"),
    ),
    CORRECTIONS: ("docrail_review_corrections", "Values that people corrected, by field", "field", ()),
    STRAIGHT_THROUGH: (
        "docrail_straight_through",
        "Documents by whether they passed, or in shadow mode would have passed, without a person",
        "result",
        ("passes", "held"),
    ),
    SAMPLED: (
        "docrail_audit_sample",
        "Decided documents of straight-through's audit sample, by whether a person found something wrong",
        "result",
        ("right", "wrong"),
    ),
    SLA: ("docrail_review_sla_events", "Review items that used a share of their SLA", "percent", ("50", "80", "100")),
}
"""By name of the total: the metric, what it tells, its label, and values of it that are shown as 0 from the start."""


@dataclass(frozen=True, slots=True)
class ReviewTotals(Collector):
    """One scrape's answer."""

    counts: Sequence[ReviewCount] | None
    """None: PostgreSQL did not tell. Then nothing is shown; a 0 would be taken for a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, as prometheus_client asks for them."""
        if self.counts is None:
            return
        for name, (metric, description, label, values) in COUNTERS.items():
            family = CounterMetricFamily(metric, description, labels=[label])
            for value, total in (dict.fromkeys(values, 0.0) | self._totals(name)).items():
                family.add_metric([value], total)
            yield family
        yield SummaryMetricFamily(
            "docrail_review_seconds",
            "From the claim of a document to its decision",
            count_value=self._totals(REVIEWED).get("", 0.0),  # type: ignore[arg-type]  # a whole number, as a float
            sum_value=self._totals(SECONDS).get("", 0.0),
        )

    def _totals(self, name: str) -> dict[str, float]:
        return {count.label: count.total for count in self.counts or () if count.name == name}
