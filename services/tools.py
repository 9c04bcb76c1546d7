"""Bundle the resources that handlers use: the worker creates them once and passes them to every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docrail.adapters.gemini.access import GeminiAccess

# for type checkers only: every handler's file imports `Tools`, and validating a definition needs only its models
if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    import asyncpg

    from docrail.adapters.coalesce import Coalescer
    from docrail.adapters.http.client import HttpClient
    from docrail.adapters.sandbox.reader import DocumentReader
    from docrail.adapters.secrets import SecretStore
    from docrail.adapters.store.blobs import BlobStore
    from docrail.adapters.store.values import ValueStore
    from docrail.services.app import Keeping
    from docrail.services.callback_urls import CallbackUrls
    from docrail.services.documents.originals import DrawAhead
    from docrail.services.lake.files import Lake
    from docrail.services.metrics import Metrics


def _maker(module: str, name: str) -> Callable[[], Any]:
    """Return a factory for the class `name` that imports its module on first use."""

    def make() -> Any:
        return getattr(import_module(module), name)()

    return make


@dataclass(frozen=True, slots=True)
class Outside:
    """Access to external services. The defaults: public addresses only, no secrets, no keys, no notifications."""

    http: HttpClient = field(default_factory=_maker("docrail.adapters.http.client", "HttpClient"))
    secrets: SecretStore = field(default_factory=_maker("docrail.adapters.secrets", "SecretStore"))
    gemini: GeminiAccess = field(default_factory=GeminiAccess)
    notify_url: str | None = field(default=None, repr=False)
    callbacks: CallbackUrls = field(default_factory=_maker("docrail.services.callback_urls", "CallbackUrls"))


@dataclass(frozen=True, slots=True)
class Tools:
    """The worker's open resources. `db` is a pool; `reader` opens documents in restricted child processes."""

    db: asyncpg.Pool
    blobs: BlobStore
    values: ValueStore
    lake: Lake
    reader: DocumentReader
    metrics: Metrics
    outside: Outside = field(default_factory=Outside)
    keeping: Keeping = field(default_factory=_maker("docrail.services.app", "Keeping"))
    four_eyes_above: Decimal | None = None
    """Largest total of a document that may be approved without a second person; None: no maximum."""
    drawn_ahead: DrawAhead | None = None
    """Draws pages of documents that wait for a person; None: they are drawn when someone looks."""
    coalescer: Coalescer = field(default_factory=_maker("docrail.adapters.coalesce", "Coalescer"))
