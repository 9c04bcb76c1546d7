"""Define a worker's Prometheus metrics: documents, runs, model answers, the step cache, the lake and deleted files.

Each worker has its own registry, so that several can live in one process. The API's page has the totals of documents
and models over all workers, since the first document (services/totals).
"""

from decimal import Decimal

from prometheus_client import CollectorRegistry, Counter, Histogram

from docrail.invoices.llm.prices import Tokens
from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.workflows.contract.messages import Compacted

ANSWER_BUCKETS = (0.5, 1, 2, 4, 8, 15, 30, 60, 90, 120)
"""Upper bounds in seconds: a page takes 2 to 8, and `ask_gemini` waits 90 unless a step sets another timeout."""

READING_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
"""Upper bounds in seconds: text takes 0.02, OCR 1 or 2 per page, and 60 is the limit."""

COMPACTION_BUCKETS = (0.1, 0.5, 1, 5, 15, 60, 300, 1800)
"""Upper bounds in seconds: from nothing to do to a lake that was not compacted for a long time."""


class Metrics:
    """Metrics of one worker since its start; its /metrics page shows `registry`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._of_documents()
        self._of_runs()
        self._of_models()
        self._of_files()

    def record_document(self, outcome: Outcome, seconds: float, confidence: float | None) -> None:
        """Count one document that took `seconds`; `confidence` is None if nothing was extracted."""
        self.processed.labels(outcome).inc()
        self.duration.observe(seconds)
        if confidence is not None:
            self.confidence.observe(confidence)

    def record_reading(self, reader: str, cpu_seconds: float) -> None:
        """Record the CPU seconds that the local readers spent on one document."""
        self.reading.labels(reader).observe(cpu_seconds)

    def record_answer(self, model: str, outcome: str, tokens: Tokens, cost: Decimal) -> None:
        """Count one answer of a model, its tokens and its cost."""
        self.answers.labels(model, outcome).inc()
        for kind in ("input", "output", "thinking"):
            self.tokens.labels(model, kind).inc(getattr(tokens, kind))
        self.cost.labels(model).inc(float(cost))

    def record_compaction(self, done: Compacted, seconds: float) -> None:
        """Record one tenant's compaction."""
        self.compacted_files.inc(done.files)
        self.compacted_bytes.inc(done.size_bytes)
        self.compaction_seconds.observe(seconds)

    def _of_documents(self) -> None:
        self.processed = self._counter(
            "docrail_documents_processed_total", "Documents that ended, by outcome", "status"
        )
        for status in ("success", "failed"):
            self.processed.labels(status)  # start at 0: rates need a first point
        words = "From the upload of a document to its being counted"
        self.duration = self._histogram("docrail_processing_duration_seconds", words, SECONDS_BUCKETS)
        words = "Overall confidence of an extraction, 0 to 1"
        self.confidence = self._histogram("docrail_extraction_confidence", words, CONFIDENCE_BUCKETS)
        words = "CPU time of opening and reading one document, by the reader whose values won, or unreadable"
        self.reading = self._histogram("docrail_document_reading_cpu_seconds", words, READING_BUCKETS, "reader")

    def _of_runs(self) -> None:
        words = "Attempts of cached steps, by handler and by the result of the lookup: hit, miss or error"
        self.cache_lookups = self._counter("docrail_step_cache_lookups_total", words, "handler", "result")
        words = "Runs that had not ended within their definition's deadline_seconds"
        self.overdue = self._counter("docrail_runs_overdue_total", words, "definition")

    def _of_models(self) -> None:
        words = "Answers that were paid for, by model and outcome"
        self.answers = self._counter("docrail_model_answers_total", words, "model", "outcome")
        words = "From a request to a model to its complete answer, usable or not; lost answers are not counted"
        self.answer_seconds = self._histogram("docrail_model_answer_seconds", words, ANSWER_BUCKETS, "model")
        words = "Tokens by model and kind: input, output, thinking"
        self.tokens = self._counter("docrail_model_tokens_total", words, "model", "kind")
        self.cost = self._counter("docrail_model_cost_total", "Cost of answers, in the price table's currency", "model")
        words = "Documents to read, by reader and by whether their bytes had been read before"
        self.reading_lookups = self._counter("docrail_extraction_cache_lookups_total", words, "reader", "result")
        words = "Attempts that waited for another attempt at the same bytes"
        self.waits = self._counter("docrail_single_flight_waits_total", words)
        self.fallbacks = self._counter(
            "docrail_model_fallbacks_total", "Documents read without a model, by reason", "reason"
        )

    def _of_files(self) -> None:
        words = "Small files of the lake that were merged into large ones"
        self.compacted_files = self._counter("docrail_lake_files_compacted_total", words)
        self.compacted_bytes = self._counter(
            "docrail_lake_compacted_bytes_total", "Bytes of the large files that were written"
        )
        words = "How long one tenant's compaction took"
        self.compaction_seconds = self._histogram("docrail_lake_compaction_seconds", words, COMPACTION_BUCKETS)
        words = "Files that were deleted because they are no longer needed or too old: lake, value or original"
        self.removed = self._counter("docrail_files_removed_total", words, "kind")

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, words, labels, registry=self.registry, buckets=buckets)
