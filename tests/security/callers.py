"""A guarded API: every request needs credentials, as in server mode. Keys are made as a tenant's admin makes them."""

import dataclasses
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from docrail.services.access.models import Principal, Scope
from docrail.services.access.service import create_key
from docrail.services.callback_urls import CallbackKeys, Claim
from docrail.services.definitions.service import publish_shipped
from docrail.settings import Settings
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers

__all__ = ["dsn", "guarded"]

KEYS = CallbackKeys(("k" * 32,))


@pytest.fixture(scope="module")
async def dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as name:
        yield name


@pytest.fixture(scope="module")
async def guarded(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["Guarded"]:
    """Yield an API in `keys` mode, without a worker."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("guarded"))
    async with serve_guarded(settings.model_copy(update={"access": "keys"})) as service:
        await publish_shipped(service.app)
        yield Guarded(service)


@contextmanager
def using(service: Service, **resources: Any) -> Iterator[None]:
    """Let the API use other resources while the block runs."""
    state = service.api.state
    own, state.app = state.app, dataclasses.replace(state.app, **resources)
    try:
        yield
    finally:
        state.app = own


@contextmanager
def accepting_token(service: Service) -> Iterator[str]:
    """Yield the token of a callback URL that the API accepts while the block runs; its run is unknown."""
    with using(service, callback_keys=KEYS):
        yield KEYS.sign(Claim("default", "hello.none", "greet", int(time.time()) + 3600))


@asynccontextmanager
async def serve_guarded(settings: Settings) -> AsyncIterator[Service]:
    """Serve an API with its own authentication, which other tests replace."""
    async with serve(settings) as service:
        service.guard()
        yield service


@dataclass(frozen=True, slots=True)
class Guarded:
    """An API that knows callers by their keys only."""

    service: Service

    async def key(self, *scopes: Scope, tenant: str = "default", name: str = "ann") -> str:
        """Return a new key; without scopes it has all."""
        by = Principal(tenant, "tests", frozenset(Scope))
        return (await create_key(self.service.app.db, by, name, scopes or Scope)).key

    async def ask(self, key: str | None, method: str, path: str, **request: object) -> httpx.Response:
        """Send a request with this key."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return await self.service.http.request(method, path, headers=headers, **request)  # type: ignore[arg-type]
