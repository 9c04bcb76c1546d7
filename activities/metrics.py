"""What Prometheus is told about documents, on a registry of its own so that several can live in one process."""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

DocumentStatus = Literal["success", "failed"]

DURATION_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400)
"""Seconds: from a fast pipeline to a backlog of a day, which is the usual SLA."""
CONFIDENCE_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Finest where it is decided whether a person must look."""


class Metrics:
    """The counters of one worker; `registry` is what its /metrics page shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._processed = Counter(
            "documents_processed_total", "Documents that ended, by outcome", ["status"], registry=self.registry
        )
        self._duration = Histogram(
            "processing_duration_seconds",
            "From the upload of a document to its being counted",
            buckets=DURATION_BUCKETS,
            registry=self.registry,
        )
        self._confidence = Histogram(
            "extraction_confidence",
            "Overall confidence of an extraction, 0 to 1",
            buckets=CONFIDENCE_BUCKETS,
            registry=self.registry,
        )
        for status in ("success", "failed"):
            self._processed.labels(status)  # shown as 0 from the start: rates need a first point

    def record_document(self, status: DocumentStatus, seconds: float, confidence: float | None) -> None:
        """Count one document that took `seconds`; `confidence` is None if nothing was extracted."""
        self._processed.labels(status).inc()
        self._duration.observe(seconds)
        if confidence is not None:
            self._confidence.observe(confidence)
