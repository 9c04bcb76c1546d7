"""What Prometheus is told by a worker of models: answers, tokens, money, and the questions that nobody had to ask."""

from decimal import Decimal
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from invoices.prices import Tokens

Lookup = Literal["hit", "miss"]
ANSWER_BUCKETS = (0.5, 1, 2, 4, 8, 15, 30, 60, 90, 120)
"""Seconds: a page takes 2 to 8, and `ask_gemini` waits 90 unless a step says otherwise."""


class ModelMetrics:
    """The counters of one worker, from its start. The totals of all workers are in PostgreSQL (storage/model_usage)."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Counter(
            "model_answers_total",
            "Answers that were paid for, by model and by what became of them",
            ["model", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "model_answer_seconds",
            "From asking a model to its whole answer, be it of use or not; without those that never came",
            ["model"],
            buckets=ANSWER_BUCKETS,
            registry=registry,
        )
        self._tokens = Counter(
            "model_tokens_total",
            "Tokens by model and kind: input, output, thinking",
            ["model", "kind"],
            registry=registry,
        )
        self._cost = Counter(
            "model_cost_total", "What answers cost, in the price table's currency", ["model"], registry=registry
        )
        self._lookups = Counter(
            "extraction_cache_lookups_total",
            "Documents that a reader was to read, by whether their bytes had been read before",
            ["reader", "result"],
            registry=registry,
        )
        self._waits = Counter(
            "single_flight_waits_total",
            "Attempts that waited for another one, which was reading the same bytes with a model",
            registry=registry,
        )
        self._fallbacks = Counter(
            "model_fallbacks_total", "Documents that the local readers served, by why", ["reason"], registry=registry
        )

    def count_answer(self, model: str, outcome: str, tokens: Tokens, cost: Decimal) -> None:
        """Count one answer."""
        self._answers.labels(model, outcome).inc()
        for kind in ("input", "output", "thinking"):
            self._tokens.labels(model, kind).inc(getattr(tokens, kind))
        self._cost.labels(model).inc(float(cost))

    def record_answer(self, model: str, seconds: float) -> None:
        """Count how long one answer took; `model` is as it was asked."""
        self._seconds.labels(model).observe(seconds)

    def count_lookup(self, reader: str, result: Lookup) -> None:
        """Count one look for an earlier reading; `reader` is `local` or `gemini`."""
        self._lookups.labels(reader, result).inc()

    def count_wait(self) -> None:
        """Count one attempt that began to wait."""
        self._waits.inc()

    def count_fallback(self, reason: str) -> None:
        """Count one document that a model was to read and did not."""
        self._fallbacks.labels(reason).inc()
