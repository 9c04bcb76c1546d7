"""Define a worker's Prometheus metrics: documents, runs, model answers, the step cache, the lake and deleted files.

Each worker has its own registry, so that several can live in one process.
"""

from decimal import Decimal
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from docrail.invoices.llm.prices import Tokens
from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.workflows.contract.messages import Compacted

Lookup = Literal["hit", "miss"]

ANSWER_BUCKETS = (0.5, 1, 2, 4, 8, 15, 30, 60, 90, 120)
"""Upper bounds in seconds: a page takes 2 to 8, and `ask_gemini` waits 90 unless a step sets another timeout."""


class ModelMetrics:
    """Model metrics of one worker since its start.

    Totals over all workers are in PostgreSQL (`services/usage/repository.py`).
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Counter(
            "model_answers_total",
            "Answers that were paid for, by model and outcome",
            ["model", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "model_answer_seconds",
            "From a request to a model to its complete answer, usable or not; lost answers are not counted",
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
            "Documents to read, by reader and by whether their bytes had been read before",
            ["reader", "result"],
            registry=registry,
        )
        self._waits = Counter(
            "single_flight_waits_total",
            "Attempts that waited for another attempt at the same bytes",
            registry=registry,
        )
        self._fallbacks = Counter(
            "model_fallbacks_total",
            "Documents that the local readers served in place of a model, by reason",
            ["reason"],
            registry=registry,
        )

    def count_answer(self, model: str, outcome: str, tokens: Tokens, cost: Decimal) -> None:
        """Count one answer, its tokens and its cost."""
        self._answers.labels(model, outcome).inc()
        for kind in ("input", "output", "thinking"):
            self._tokens.labels(model, kind).inc(getattr(tokens, kind))
        self._cost.labels(model).inc(float(cost))

    def record_answer(self, model: str, seconds: float) -> None:
        """Record how long one answer took; `model` is the name used in the request."""
        self._seconds.labels(model).observe(seconds)

    def count_lookup(self, reader: str, result: Lookup) -> None:
        """Count one lookup of an earlier reading; `reader` is `local` or `gemini`."""
        self._lookups.labels(reader, result).inc()

    def count_wait(self) -> None:
        """Count one attempt that starts to wait for another."""
        self._waits.inc()

    def count_fallback(self, reason: str) -> None:
        """Count one document that the local readers served in place of a model."""
        self._fallbacks.labels(reason).inc()


CacheResult = Literal["hit", "miss", "error"]
"""Result of a lookup in the step cache; `error`: none, because the database was unavailable."""

READING_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
"""Upper bounds in seconds: text takes 0.02, OCR 1 or 2 per page, and 60 is the limit."""


class Metrics:
    """Metrics of one worker since its start; its /metrics page shows `registry`.

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
            "Attempts of cached steps, by handler and by the result of the lookup: hit, miss or error",
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
            self._processed.labels(status)  # start at 0: rates need a first point

    def record_document(self, outcome: Outcome, seconds: float, confidence: float | None) -> None:
        """Count one document that took `seconds`; `confidence` is None if nothing was extracted."""
        self._processed.labels(outcome).inc()
        self._duration.observe(seconds)
        if confidence is not None:
            self._confidence.observe(confidence)

    def count_cache(self, handler: str, result: CacheResult) -> None:
        """Count one lookup in the step cache."""
        self._cache.labels(handler, result).inc()

    def record_reading(self, reader: str, cpu_seconds: float) -> None:
        """Record the CPU seconds that the local readers spent on one document."""
        self._reading.labels(reader).observe(cpu_seconds)

    def count_overdue(self, definition_id: str) -> None:
        """Count one overdue run."""
        self._overdue.labels(definition_id).inc()


COMPACTION_BUCKETS = (0.1, 0.5, 1, 5, 15, 60, 300, 1800)
"""Upper bounds in seconds: from nothing to do to a lake that was not compacted for a long time."""


class LakeMetrics:
    """Metrics of one worker's maintenance of files since its start."""

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
            "Files that were deleted because they are no longer needed or too old: lake, value or original",
            ["kind"],
            registry=registry,
        )

    def record_compaction(self, done: Compacted, seconds: float) -> None:
        """Record one tenant's compaction."""
        self._files.inc(done.files)
        self._bytes.inc(done.size_bytes)
        self._seconds.observe(seconds)

    def count_removed(self, kind: Literal["lake", "value", "original"], files: int) -> None:
        """Count deleted files."""
        self._removed.labels(kind).inc(files)
