"""Bundle the open resources and the few settings that services need. Each entry point creates one."""

import asyncio
import datetime as dt
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import asyncpg

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json
from docrail.handlers import Catalogue, Handler
from docrail.services.access.failed_sign_ins import FailedSignIns
from docrail.services.callback_urls import CallbackKeys
from docrail.services.errors import Unavailable
from docrail.services.gathering import Gatherings
from docrail.services.limited_processes import LimitedProcesses
from docrail.services.quotas.service import Quotas

if TYPE_CHECKING:  # handlers are loaded with this module, and checking a definition needs no client
    from temporalio.client import Client

    from docrail.services.exports.files import ExportFiles


class Registry(Protocol):
    """The resources needed to check and publish a definition. `App` implements it."""

    @property
    def db(self) -> asyncpg.Pool:
        """Return the database pool."""

    @property
    def catalogue(self) -> Mapping[str, Handler]:
        """Return the handlers that a definition may name."""

    @property
    def resource_limits(self) -> Mapping[str, float]:
        """Return the rate limit of each resource tag, in uses per second."""

    @property
    def step_defaults(self) -> Mapping[str, Json]:
        """Return the installation's defaults of steps."""

    @property
    def processes(self) -> LimitedProcesses | None:
        """Return the limited processes for costly checks; None: they run in threads."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What models' answers may cost in a day (UTC); None: anything. The workers enforce it."""

    per_day: Decimal | None = None
    """Of all tenants together."""
    per_tenant: Decimal | None = None
    """Of a tenant without a quota of its own."""
    currency: str = "USD"
    """That of the price table."""


@dataclass(frozen=True, slots=True)
class App:
    """The open resources of one process. Both clients connect on first use and reconnect automatically."""

    db: asyncpg.Pool
    credentials: asyncpg.Pool
    """For keys and sessions, whose tenant is not known before. Its sessions see all tenants' rows and stay like that: a
    change of role makes PostgreSQL plan a session's statements again."""
    temporal: "Client"
    store: Folder
    """All stored files; the next three keep theirs in folders of it."""
    blobs: BlobStore
    values: ValueStore
    exports: "ExportFiles"
    catalogue: Catalogue
    task_queue: str
    resource_limits: Mapping[str, float]
    """Configured rate limit of each resource tag, in uses per second."""
    temporal_ui_url: str
    max_upload_bytes: int
    max_zip_bytes: int = 2**29
    """Largest zip file of documents."""
    callback_keys: CallbackKeys = field(default_factory=CallbackKeys)
    four_eyes_above: Decimal | None = None
    """Largest total of a document that one person may approve alone; None: no maximum."""
    reader: DocumentReader = field(default_factory=DocumentReader)
    """Opens documents to render their pages. Its processes start when the first page is rendered."""
    processes: LimitedProcesses | None = None
    """Limited processes for costly checks; None: they run in threads."""
    step_defaults: Mapping[str, Json] = field(default_factory=dict)
    """`max_retries` and `retry_config` of steps whose definition gives none."""
    quotas: Quotas = field(default_factory=Quotas)
    gatherings: Gatherings = field(default_factory=Gatherings)
    budgets: Budgets = field(default_factory=Budgets)
    failed_sign_ins: FailedSignIns = field(default_factory=FailedSignIns)
    prepared_tenants: set[str] = field(default_factory=set)
    """Tenants that are known to have the shipped definitions."""


ANSWER_SECONDS = 3.0
"""Timeout of a service for the metrics page. Prometheus allows a scrape 10 s; a service that hangs must not cost the
page its other metrics."""

T = TypeVar("T")


async def in_time(answer: Coroutine[Any, Any, T]) -> T | None:
    """Return a service's answer; None if there is none within ANSWER_SECONDS. Never raises for that."""
    try:
        return await within(ANSWER_SECONDS, answer)
    except (OSError, TimeoutError, Unavailable, *DATABASE_ERRORS):
        return None


async def within(seconds: float, answer: Coroutine[Any, Any, T]) -> T:
    """Return a service's answer. Raises: TimeoutError after `seconds`, and what the answer raises.

    Unlike asyncio.timeout it does not wait until the call has been cancelled: a frozen database delays that too, as its
    driver asks it to cancel the statement.
    """
    asking = asyncio.create_task(answer)
    try:
        done, _ = await asyncio.wait({asking}, timeout=seconds)
    except asyncio.CancelledError:
        asking.cancel()
        raise
    if done:
        return asking.result()
    asking.add_done_callback(_forget)
    asking.cancel()
    raise TimeoutError


def _forget(asking: asyncio.Task[Any]) -> None:
    if not asking.cancelled():
        asking.exception()  # otherwise asyncio logs that no one has read it


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long files are kept once they are no longer needed; None: forever."""

    grace: dt.timedelta = dt.timedelta(hours=24)
    """How long queries may still read lake files that have been replaced."""
    values_days: float | None = None
    originals_days: float | None = None
    runs_days: float | None = None
