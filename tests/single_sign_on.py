"""An API whose people are those of an issuer on loopback."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import SecretStr

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from docrail.settings import Settings
from tests.api.service import Service, settings_for
from tests.oidc_issuer import AUDIENCE, CLIENT, SECRET, LoopbackIssuer, loopback_issuer
from tests.postgres import migrated_database
from tests.security.callers import serve_guarded
from tests.stack import Servers

SCOPES = {"clerks": frozenset({Scope.READ, Scope.REVIEW}), "admins": frozenset(Scope)}


@pytest.fixture(scope="module")
async def trusting(
    embedded: Servers, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[LoopbackIssuer, Service]]:
    """Yield an issuer and an API that trusts it, for the tests of a file."""
    async with migrated_database(embedded.dsn) as dsn, loopback_issuer() as served:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("sso"))
        async with serve_sso(settings, served) as service:
            yield served, service


@pytest.fixture
def issuer(trusting: tuple[LoopbackIssuer, Service]) -> Iterator[LoopbackIssuer]:
    served, _ = trusting
    yield served
    served.reset()


@pytest.fixture
def api(trusting: tuple[LoopbackIssuer, Service]) -> Service:
    return trusting[1]


@asynccontextmanager
async def serve_sso(settings: Settings, issuer: LoopbackIssuer, **changes: Json) -> AsyncIterator[Service]:
    """Serve an API in `keys` mode that trusts the issuer."""
    trusting = {
        "access": "keys",
        "oidc_issuer": issuer.url,
        "oidc_audience": AUDIENCE,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SecretStr(SECRET),
        "oidc_scopes": SCOPES,
    }
    async with serve_guarded(settings.model_copy(update=trusting | changes)) as service:
        yield service


async def me(service: Service, token: str) -> httpx.Response:
    return await service.http.get("/v1/me", headers={"Authorization": f"Bearer {token}"})


def url_of(service: Service) -> str:
    return str(service.http.base_url).rstrip("/")


@asynccontextmanager
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client that keeps cookies, and follows redirects when it is asked to."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        yield client


async def callback_of(client: httpx.AsyncClient, service: Service, page: str | None = None) -> str:
    """Begin a sign-in and let the issuer answer; return the callback's address, which the browser would go to."""
    begun = await client.get(f"{url_of(service)}/v1/session/oidc", params={"next": page} if page else None)
    assert begun.status_code == 303, begun.text
    answered = await client.get(begun.headers["location"])
    assert answered.status_code == 302, answered.text
    assert urlsplit(answered.headers["location"]).path == "/v1/session/oidc/callback"
    return answered.headers["location"]


async def sign_in(client: httpx.AsyncClient, service: Service, page: str | None = None) -> httpx.Response:
    return await client.get(await callback_of(client, service, page))


def cookies_of(response: httpx.Response) -> dict[str, str]:
    """Return the attributes of each cookie that a response sets, by the cookie's name."""
    return {each.partition("=")[0]: each for each in response.headers.get_list("set-cookie")}
