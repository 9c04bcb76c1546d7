"""What Prometheus is told by a worker of models: answers, tokens, money, and the questions that nobody had to ask.

What Prometheus is told by a worker, on a registry of its own so that several can live in one process.

What Prometheus is told of the lake and of what is deleted.
"""

from decimal import Decimal
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from docrail.invoices.llm.prices import Tokens
from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.workflows.contract.messages import Compacted

Lookup = Literal["hit", "miss"]


ANSWER_BUCKETS = (0.5, 1, 2, 4, 8, 15, 30, 60, 90, 120)
"""Seconds: a page takes 2 to 8, and `ask_gemini` waits 90 unless a step says otherwise."""


class ModelMetrics:
    """The counters of one worker, from its start. The totals of all workers are in PostgreSQL (services/usage)."""

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


CacheResult = Literal["hit", "miss", "error"]
"""What a look into the cache of steps gave; `error`: nothing, for the database was away."""


READING_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
"""Seconds: text takes 0.02, an OCR 1 or 2 for each page, and 60 is the limit."""


class Metrics:
    """The counters of one worker, from its start; `registry` is what its /metrics page shows.

    The API's page has the same metrics for all workers, since the first document (api/metrics.py).
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._processed = Counter(
            "documents_processed_total", "Documents that ended, by outcome", ["status"], registry=self.registry
        )
        self._duration = Histogram(
            "processing_duration_seconds",
            "From the upload of a document to its being counted",
            buckets=SECONDS_BUCKETS,
            registry=self.registry,
        )
        self._confidence = Histogram(
            "extraction_confidence",
            "Overall confidence of an extraction, 0 to 1",
            buckets=CONFIDENCE_BUCKETS,
            registry=self.registry,
        )
        self._cache = Counter(
            "step_cache_lookups_total",
            "Attempts of cached steps, by handler and by what the cache said: hit, miss or error",
            ["handler", "result"],
            registry=self.registry,
        )
        self._overdue = Counter(
            "runs_overdue_total",
            "Runs that had not ended within their definition's deadline_seconds",
            ["definition"],
            registry=self.registry,
        )
        self._reading = Histogram(
            "document_reading_cpu_seconds",
            "CPU time of opening and reading one document, by the reader whose values won, or unreadable",
            ["reader"],
            buckets=READING_BUCKETS,
            registry=self.registry,
        )
        self.models = ModelMetrics(self.registry)
        self.lake = LakeMetrics(self.registry)
        for status in ("success", "failed"):
            self._processed.labels(status)  # shown as 0 from the start: rates need a first point

    def record_document(self, outcome: Outcome, seconds: float, confidence: float | None) -> None:
        """Count one document that took `seconds`; `confidence` is None if nothing was extracted."""
        self._processed.labels(outcome).inc()
        self._duration.observe(seconds)
        if confidence is not None:
            self._confidence.observe(confidence)

    def count_cache(self, handler: str, result: CacheResult) -> None:
        """Count one look into the cache of steps."""
        self._cache.labels(handler, result).inc()

    def record_reading(self, reader: str, cpu_seconds: float) -> None:
        """Count one document that the local readers opened."""
        self._reading.labels(reader).observe(cpu_seconds)

    def count_overdue(self, definition_id: str) -> None:
        """Count one run that is overdue."""
        self._overdue.labels(definition_id).inc()


COMPACTION_BUCKETS = (0.1, 0.5, 1, 5, 15, 60, 300, 1800)
"""Seconds: from nothing to do to a lake that was left alone for long."""


class LakeMetrics:
    """The counters of one worker's rounds over the files, from its start."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._files = Counter(
            "lake_files_compacted_total", "Small files of the lake that were merged into large ones", registry=registry
        )
        self._bytes = Counter(
            "lake_compacted_bytes_total", "Bytes of the large files that were written", registry=registry
        )
        self._seconds = Histogram(
            "lake_compaction_seconds",
            "How long one tenant's compaction took",
            buckets=COMPACTION_BUCKETS,
            registry=registry,
        )
        self._removed = Counter(
            "files_removed_total",
            "Files that were deleted because nobody needs them or they are too old: lake, value or original",
            ["kind"],
            registry=registry,
        )

    def record_compaction(self, done: Compacted, seconds: float) -> None:
        """Count one tenant's compaction."""
        self._files.inc(done.files)
        self._bytes.inc(done.size_bytes)
        self._seconds.observe(seconds)

    def count_removed(self, kind: Literal["lake", "value", "original"], files: int) -> None:
        """Count deleted files."""
        self._removed.labels(kind).inc(files)
