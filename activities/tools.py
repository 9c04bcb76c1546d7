"""What handlers work with: made once by the worker, handed to every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from invoices.prices import PriceTable, shipped_prices

if TYPE_CHECKING:  # every handler's file names `Tools`, and whoever checks a definition needs the models in them only
    from collections.abc import Callable
    from decimal import Decimal

    import asyncpg

    from activities.callbacks import CallbackUrls
    from activities.gathering import Gathering
    from activities.metrics import Metrics
    from activities.outgoing import HttpClient
    from activities.reading import DocumentReader
    from activities.secret_store import SecretStore
    from storage.blobs import BlobStore
    from storage.lake import Lake
    from storage.retention import Keeping
    from storage.values import ValueStore


def _maker(module: str, name: str) -> Callable[[], Any]:
    """Return what makes an object of the class `name` without arguments, and loads it only then."""

    def make() -> Any:
        return getattr(import_module(module), name)()

    return make


@dataclass(frozen=True, slots=True)
class GeminiAccess:
    """How to reach the Gemini API. `base_url` is another server that speaks its language; None is Google's own."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    default_model: str = "gemini-3.8-flash"
    prices: PriceTable = field(default_factory=shipped_prices)
    budget_per_day: Decimal | None = None
    """Of all tenants, in the table's currency; None: no limit."""
    budget_per_tenant: Decimal | None = None
    """Of each of them a day; None: no limit of its own."""


@dataclass(frozen=True, slots=True)
class Outside:
    """How to reach what is not ours. As it begins: public addresses only, no secrets, no keys, nobody to notify."""

    http: HttpClient = field(default_factory=_maker("activities.outgoing", "HttpClient"))
    secrets: SecretStore = field(default_factory=_maker("activities.secret_store", "SecretStore"))
    gemini: GeminiAccess = field(default_factory=GeminiAccess)
    notify_url: str | None = field(default=None, repr=False)
    callbacks: CallbackUrls = field(default_factory=_maker("activities.callbacks", "CallbackUrls"))


@dataclass(frozen=True, slots=True)
class Tools:
    """The worker's open resources. `db` is a pool; `reader` opens documents in limited child processes."""

    db: asyncpg.Pool
    blobs: BlobStore
    values: ValueStore
    lake: Lake
    reader: DocumentReader
    metrics: Metrics
    outside: Outside = field(default_factory=Outside)
    keeping: Keeping = field(default_factory=_maker("storage.retention", "Keeping"))
    four_eyes_above: Decimal | None = None
    """Largest total of a document that may be approved without a second person; None: any."""
    gathering: Gathering = field(default_factory=_maker("activities.gathering", "Gathering"))
