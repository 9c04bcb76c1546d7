"""What operations work with: open resources and the few settings they need. Made once by each root."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

import asyncpg
from temporalio.client import Client

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.handlers import Catalogue, Handler
from docrail.services.callback_urls import CallbackKeys


class Registry(Protocol):
    """What definitions are checked against and published to. An `App` is one."""

    @property
    def db(self) -> asyncpg.Pool:
        """The pool of the database."""

    @property
    def catalogue(self) -> Mapping[str, Handler]:
        """The handlers that a definition may name."""

    @property
    def resource_limits(self) -> Mapping[str, float]:
        """Uses a second by resource tag."""


@dataclass(frozen=True, slots=True)
class App:
    """The open resources of one process. Both clients connect when first used and reconnect by themselves."""

    db: asyncpg.Pool
    temporal: Client
    blobs: BlobStore
    values: ValueStore
    catalogue: Catalogue
    task_queue: str
    resource_limits: Mapping[str, float]
    """What the settings say of limited resources: uses a second by tag."""
    temporal_ui_url: str
    max_upload_bytes: int
    callback_keys: CallbackKeys = field(default_factory=CallbackKeys)
    four_eyes_above: Decimal | None = None
    """Largest total of a document that one person may approve alone; None: any."""
    reader: DocumentReader = field(default_factory=DocumentReader)
    """Opens documents to draw their pages. Its processes start when the first one is drawn."""


ANSWER_SECONDS = 3.0
"""Prometheus gives a scrape 10 s; the page's other metrics must not be lost with a database that hangs."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long files are kept that nobody needs any more; None: for ever."""

    grace: dt.timedelta = dt.timedelta(hours=24)
    """How long a query may still read what the lake has replaced."""
    values_days: float | None = None
    originals_days: float | None = None
