"""Turn the totals in PostgreSQL into metrics: outcomes of documents, costs of models, batches, reviews.

Each object holds the values of one scrape, so that concurrent scrapes share nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import INF, floatToGoString

from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.services.documents.models import DocumentCount
from docrail.services.reviews.models import (
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
from docrail.services.usage.models import ModelTotal


@dataclass(frozen=True, slots=True)
class DocumentMetrics(Collector):
    """The document metrics of one scrape."""

    counts: Sequence[DocumentCount] | None
    """None: PostgreSQL did not answer. The document metrics are then omitted, because a 0 would look like a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        up = self.counts is not None
        yield GaugeMetricFamily("docrail_database_up", "1 if PostgreSQL answered, else 0", value=up)
        if self.counts is not None:
            yield _processed(self.counts)
            yield _histogram(
                "docrail_processing_duration_seconds",
                "Time from a document's upload until it is counted, of all workers",
                SECONDS_BUCKETS,
                [(count.seconds_le, count.documents) for count in self.counts],
                sum(count.seconds_sum for count in self.counts),
            )
            yield _histogram(
                "docrail_extraction_confidence",
                "Overall confidence of an extraction, 0 to 1, of all workers",
                CONFIDENCE_BUCKETS,
                [(count.confidence_le, count.documents) for count in self.counts if count.confidence_le is not None],
                sum(count.confidence_sum for count in self.counts),
            )


def _processed(counts: Iterable[DocumentCount]) -> Metric:
    totals = dict.fromkeys(get_args(Outcome), 0)  # start at 0: rates need a first point
    for count in counts:
        totals[count.outcome] += count.documents
    family = CounterMetricFamily(
        "docrail_documents_processed", "Finished documents, by outcome, of all workers", labels=["status"]
    )
    for outcome, documents in totals.items():
        family.add_metric([outcome], documents)
    return family


def _histogram(
    name: str, description: str, bounds: Sequence[float], found: Sequence[tuple[float, int]], total: float
) -> Metric:
    """Return a histogram of the counts in `found`, by smallest upper bound.

    Counts under a bound of an earlier release that no longer exists are added to the next larger bound.
    """
    buckets = [
        (_label(bound), sum(documents for least, documents in found if least <= bound)) for bound in (*bounds, INF)
    ]
    return HistogramMetricFamily(name, description, buckets=buckets, sum_value=total)


def _label(bound: float) -> str:
    """Return a bound in the format of prometheus_client's own histograms, as on the workers' pages."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class ModelTotals(Collector):
    """The model metrics of one scrape. Empty if PostgreSQL did not answer: a 0 would look like a restart."""

    totals: Sequence[ModelTotal]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        answers = CounterMetricFamily(
            "docrail_model_answers", "Answers that were paid for, of all workers", labels=["model", "outcome"]
        )
        tokens = CounterMetricFamily(
            "docrail_model_tokens", "Tokens by model and kind, of all workers", labels=["model", "kind"]
        )
        cost = CounterMetricFamily(
            "docrail_model_cost", "Cost of answers, in the price table's currency, of all workers", labels=["model"]
        )
        for total in self.totals:
            answers.add_metric([total.model, total.outcome], total.answers)
        for model in dict.fromkeys(total.model for total in self.totals):
            of_model = [total for total in self.totals if total.model == model]
            for kind in ("input", "output", "thinking"):
                tokens.add_metric([model, kind], sum(getattr(total, f"{kind}_tokens") for total in of_model))
            cost.add_metric([model], float(sum(total.cost for total in of_model)))
        yield from (answers, tokens, cost)


@dataclass(frozen=True, slots=True)
class BatchTotals(Collector):
    """The metrics of batches of one scrape."""

    documents: Mapping[str, int] | None
    """None: PostgreSQL did not answer. The metric is then omitted."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        if self.documents is not None:
            family = GaugeMetricFamily(
                "docrail_batch_documents", "Documents of batches that wait for their turn, or run", labels=["state"]
            )
            for state, documents in self.documents.items():
                family.add_metric([state], documents)
            yield family


COUNTERS = {
    DECISIONS: ("docrail_review_decisions", "Documents that people decided", "outcome", ("approved", "rejected")),
    TOUCHED: (
        "docrail_review_touched_decisions",
        "Those among them in which a person corrected a field",
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
"""For each total: the metric, its description, its label, and the label values that start at 0."""


@dataclass(frozen=True, slots=True)
class ReviewTotals(Collector):
    """The review metrics of one scrape."""

    counts: Sequence[ReviewCount] | None
    """None: PostgreSQL did not answer. The metrics are then omitted, because a 0 would look like a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
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
