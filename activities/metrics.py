"""What Prometheus is told by a worker, on a registry of its own so that several can live in one process."""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from activities.lake_metrics import LakeMetrics
from activities.model_metrics import ModelMetrics
from storage.document_counts import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome

CacheResult = Literal["hit", "miss", "error"]
"""What a look into the cache of steps gave; `error`: nothing, for the database was away."""

READING_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
"""Seconds: text takes 0.02, an OCR 1 or 2 for each page, and 60 is the limit."""


class Metrics:
    """The counters of one worker, from its start; `registry` is what its /metrics page shows.

    The API's page has the same metrics for all workers, since the first document (api/document_metrics.py).
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
