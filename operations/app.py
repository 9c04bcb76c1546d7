"""What operations work with: open resources and the few settings they need. Made once by each root."""

from collections.abc import Mapping
from dataclasses import dataclass

import asyncpg
from temporalio.client import Client

from activities.registry import Handler
from storage.blobs import BlobStore


@dataclass(frozen=True, slots=True)
class App:
    """The open resources of one process. Both clients connect when first used and reconnect by themselves."""

    db: asyncpg.Pool
    temporal: Client
    blobs: BlobStore
    catalogue: Mapping[str, Handler]
    task_queue: str
    temporal_ui_url: str
    max_upload_bytes: int
