"""How documents ended, as Prometheus metrics: the totals of all workers, which no restart loses.

A worker's own page has the same metrics of that process alone: never add the two up. Every API process shows the same
totals: take the greatest, not the sum.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import INF, floatToGoString

from storage.document_counts import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, DocumentCount, Outcome


@dataclass(frozen=True, slots=True)
class DocumentMetrics(Collector):
    """One scrape's answer. Made anew for each, so that scrapes at the same time share nothing."""

    counts: Sequence[DocumentCount] | None
    """None: PostgreSQL did not tell. Then nothing is shown of documents; a 0 would be taken for a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, as prometheus_client asks for them."""
        up = self.counts is not None
        yield GaugeMetricFamily("docrail_database_up", "1 if PostgreSQL told how documents ended, else 0", value=up)
        if self.counts is not None:
            yield _processed(self.counts)
            yield _histogram(
                "processing_duration_seconds",
                "From the upload of a document to its being counted, of all workers",
                SECONDS_BUCKETS,
                [(count.seconds_le, count.documents) for count in self.counts],
                sum(count.seconds_sum for count in self.counts),
            )
            yield _histogram(
                "extraction_confidence",
                "Overall confidence of an extraction, 0 to 1, of all workers",
                CONFIDENCE_BUCKETS,
                [(count.confidence_le, count.documents) for count in self.counts if count.confidence_le is not None],
                sum(count.confidence_sum for count in self.counts),
            )


def _processed(counts: Iterable[DocumentCount]) -> Metric:
    totals = dict.fromkeys(get_args(Outcome), 0)  # shown as 0 from the start: rates need a first point
    for count in counts:
        totals[count.outcome] += count.documents
    family = CounterMetricFamily(
        "documents_processed", "Documents that ended, by outcome, of all workers", labels=["status"]
    )
    for outcome, documents in totals.items():
        family.add_metric([outcome], documents)
    return family


def _histogram(
    name: str, description: str, bounds: Sequence[float], found: Sequence[tuple[float, int]], total: float
) -> Metric:
    """Return a histogram of what was `found`: how many, under which least upper bound.

    A bound that an earlier release counted under and this one does not have counts for the next greater one.
    """
    buckets = [
        (_label(bound), sum(documents for least, documents in found if least <= bound)) for bound in (*bounds, INF)
    ]
    return HistogramMetricFamily(name, description, buckets=buckets, sum_value=total)


def _label(bound: float) -> str:
    """Return a bound as prometheus_client's own histograms write it: the worker's pages have these."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]
