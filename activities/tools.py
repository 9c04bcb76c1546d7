"""What handlers work with: made once by the worker, handed to every call."""

from dataclasses import dataclass, field
from decimal import Decimal

import asyncpg

from activities.callbacks import CallbackUrls
from activities.gathering import Gathering
from activities.metrics import Metrics
from activities.outgoing import HttpClient
from activities.reading import DocumentReader
from activities.secret_store import SecretStore
from invoices.prices import PriceTable, shipped_prices
from storage.blobs import BlobStore
from storage.lake import Lake
from storage.retention import Keeping
from storage.values import ValueStore


@dataclass(frozen=True, slots=True)
class GeminiAccess:
    """How to reach the Gemini API. `base_url` is another server that speaks its language; None is Google's own."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    default_model: str = "gemini-3.8-flash"
    prices: PriceTable = field(default_factory=shipped_prices)
    budget_per_day: Decimal | None = None
    """Of all tenants, in the table's currency; None: no limit."""


@dataclass(frozen=True, slots=True)
class Outside:
    """How to reach what is not ours. As it begins: public addresses only, no secrets, no keys, nobody to notify."""

    http: HttpClient = field(default_factory=HttpClient)
    secrets: SecretStore = field(default_factory=SecretStore)
    gemini: GeminiAccess = field(default_factory=GeminiAccess)
    notify_url: str | None = field(default=None, repr=False)
    callbacks: CallbackUrls = field(default_factory=CallbackUrls)


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
    keeping: Keeping = field(default_factory=Keeping)
    four_eyes_above: Decimal | None = None
    """Largest total of a document that may be approved without a second person; None: any."""
    gathering: Gathering = field(default_factory=Gathering)
