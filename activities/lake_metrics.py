"""What Prometheus is told of the lake and of what is deleted."""

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from dag.maintenance import Compacted

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
