"""What handlers work with: made once by the worker, handed to every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docrail.adapters.gemini.access import GeminiAccess

if TYPE_CHECKING:  # every handler's file names `Tools`, and whoever checks a definition needs the models in them only
    from collections.abc import Callable
    from decimal import Decimal

    import asyncpg

    from docrail.adapters.coalesce import Gathering
    from docrail.adapters.http.client import HttpClient
    from docrail.adapters.sandbox.reader import DocumentReader
    from docrail.adapters.secrets import SecretStore
    from docrail.adapters.store.blobs import BlobStore
    from docrail.adapters.store.values import ValueStore
    from docrail.services.app import Keeping
    from docrail.services.callback_urls import CallbackUrls
    from docrail.services.lake.files import Lake
    from docrail.services.metrics import Metrics


def _maker(module: str, name: str) -> Callable[[], Any]:
    """Return what makes an object of the class `name` without arguments, and loads it only then."""

    def make() -> Any:
        return getattr(import_module(module), name)()

    return make


@dataclass(frozen=True, slots=True)
class Outside:
    """How to reach what is not ours. As it begins: public addresses only, no secrets, no keys, nobody to notify."""

    http: HttpClient = field(default_factory=_maker("docrail.adapters.http.client", "HttpClient"))
    secrets: SecretStore = field(default_factory=_maker("docrail.adapters.secrets", "SecretStore"))
    gemini: GeminiAccess = field(default_factory=GeminiAccess)
    notify_url: str | None = field(default=None, repr=False)
    callbacks: CallbackUrls = field(default_factory=_maker("docrail.services.callback_urls", "CallbackUrls"))


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
    keeping: Keeping = field(default_factory=_maker("docrail.services.app", "Keeping"))
    four_eyes_above: Decimal | None = None
    """Largest total of a document that may be approved without a second person; None: any."""
    gathering: Gathering = field(default_factory=_maker("docrail.adapters.coalesce", "Gathering"))
