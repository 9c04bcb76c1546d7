"""What handlers work with: made once by the worker, handed to every call."""

from dataclasses import dataclass

import asyncpg

from activities.metrics import Metrics
from activities.reading import DocumentReader
from storage.blobs import BlobStore
from storage.lake import Lake


@dataclass(frozen=True, slots=True)
class Tools:
    """The worker's open resources. `db` is a pool; `reader` opens documents in limited child processes."""

    db: asyncpg.Pool
    blobs: BlobStore
    lake: Lake
    reader: DocumentReader
    metrics: Metrics
