"""What Prometheus is told by a worker, on a registry of its own so that several can live in one process."""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from storage.document_counts import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome

CacheResult = Literal["hit", "miss", "error"]
"""What a look into the cache of steps gave; `error`: nothing, for the database was away."""


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

    def count_overdue(self, definition_id: str) -> None:
        """Count one run that is overdue."""
        self._overdue.labels(definition_id).inc()
