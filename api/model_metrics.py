"""What models came to, as Prometheus metrics: the totals of all workers, which no restart loses.

A worker's own page has the same metrics of that process alone: never add the two up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from storage.model_usage import ModelTotal


@dataclass(frozen=True, slots=True)
class ModelTotals(Collector):
    """One scrape's answer. Empty if PostgreSQL did not tell: a 0 would be taken for a restart."""

    totals: Sequence[ModelTotal]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, as prometheus_client asks for them."""
        answers = CounterMetricFamily(
            "model_answers", "Answers that were paid for, of all workers", labels=["model", "outcome"]
        )
        tokens = CounterMetricFamily(
            "model_tokens", "Tokens by model and kind, of all workers", labels=["model", "kind"]
        )
        cost = CounterMetricFamily(
            "model_cost", "What answers cost, in the price table's currency, of all workers", labels=["model"]
        )
        for total in self.totals:
            answers.add_metric([total.model, total.outcome], total.answers)
        for model in dict.fromkeys(total.model for total in self.totals):
            of_model = [total for total in self.totals if total.model == model]
            for kind in ("input", "output", "thinking"):
                tokens.add_metric([model, kind], sum(getattr(total, f"{kind}_tokens") for total in of_model))
            cost.add_metric([model], float(sum(total.cost for total in of_model)))
        yield from (answers, tokens, cost)
