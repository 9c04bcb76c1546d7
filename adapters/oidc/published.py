"""Keep what an issuer publishes: its endpoints and its keys."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from joserfc.jwk import KeySet
from pydantic import AfterValidator, BaseModel, ValidationError

from docrail.adapters.http.client import Answer, HttpClient, Outgoing, is_success
from docrail.adapters.http.errors import WorkerNotConfiguredError
from docrail.adapters.oidc.access import checked_issuer_url
from docrail.adapters.oidc.errors import IssuerUnavailableError
from docrail.adapters.oidc.tokens import usable_keys
from docrail.dag.values.json_values import Json

log = logging.getLogger(__name__)

DISCOVERY_PATH = "/.well-known/openid-configuration"
ANSWER_SECONDS = 5.0
MAX_ANSWER_BYTES = 2**18
FRESH_SECONDS = 600.0
"""How long keys are used before they are read again: a key that the issuer withdraws counts no longer than this."""
RETRY_SECONDS = 5.0
"""Pause after a failure."""
UNKNOWN_KEY_SECONDS = 60.0
"""Shortest time between two readings for unknown key ids: anyone can invent those, and the issuer serves others too."""

IssuerUrl = Annotated[str, AfterValidator(checked_issuer_url)]


class Endpoints(BaseModel):
    """The parts of an issuer's discovery document that are used (OpenID Connect Discovery, 3)."""

    issuer: str
    jwks_uri: IssuerUrl
    authorization_endpoint: IssuerUrl
    token_endpoint: IssuerUrl
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


class _Jwks(BaseModel):
    keys: list[Json]


_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Published:
    """What an issuer publishes. `endpoints`: None if only its keys were read."""

    keys: KeySet
    endpoints: Endpoints | None = None


async def read_endpoints(http: HttpClient, issuer: str) -> Endpoints:
    """Read the issuer's discovery document. Raises: IssuerUnavailableError."""
    endpoints = await _read(http, issuer.rstrip("/") + DISCOVERY_PATH, Endpoints)
    if endpoints.issuer != issuer:
        raise IssuerUnavailableError(f"the issuer calls itself {endpoints.issuer[:200]!r}, expected {issuer!r}")
    return endpoints


async def read_keys(http: HttpClient, jwks_url: str) -> KeySet:
    """Read the issuer's keys. Raises: IssuerUnavailableError."""
    keys = usable_keys((await _read(http, jwks_url, _Jwks)).keys)
    if not keys:
        raise IssuerUnavailableError(f"GET {jwks_url} answered no usable key")
    return keys


async def _read(http: HttpClient, url: str, model: type[_Model]) -> _Model:
    answer = await send(http, Outgoing("GET", url, max_bytes=MAX_ANSWER_BYTES))
    if not is_success(answer.status) or not answer.complete:
        raise IssuerUnavailableError(f"{answer.request} answered {answer.status}")
    try:
        return model.model_validate_json(answer.body)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, each["loc"])) or "not JSON" for each in error.errors())
        raise IssuerUnavailableError(f"{answer.request} answered an invalid document: {places}") from None


async def send(http: HttpClient, outgoing: Outgoing) -> Answer:
    """Return the issuer's answer. Raises: IssuerUnavailableError."""
    try:
        return await http.send(replace(outgoing, timeout_seconds=ANSWER_SECONDS))
    except (OSError, ValueError, WorkerNotConfiguredError) as error:  # a refused address, no answer, a bad URL
        raise IssuerUnavailableError(str(error)) from None


class Publication:
    """Keep what `read` returns. Concurrent callers share one reading, and none waits while an older result serves."""

    def __init__(self, read: Callable[[], Awaitable[Published]], clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self._found: Published | None = None
        self._failure: IssuerUnavailableError | None = None
        self._reading: asyncio.Task[None] | None = None
        self._due_at = self._unknown_key_due_at = float("-inf")

    async def current(self) -> Published:
        """Return what is known, at first reading it; a reading that is due goes on in the background.

        Raises: IssuerUnavailableError if nothing is known.
        """
        if self._clock() >= self._due_at:
            self._start()
        if self._found is None:
            await self._wait()
        return self._known()

    async def after_unknown_key(self) -> Published:
        """Return what is published now, but read it at most once a minute. Raises: IssuerUnavailableError."""
        if self._clock() >= self._unknown_key_due_at:
            self._unknown_key_due_at = self._clock() + UNKNOWN_KEY_SECONDS
            self._start()
        await self._wait()
        if self._failure is not None:
            raise IssuerUnavailableError(str(self._failure))
        return self._known()

    def _known(self) -> Published:
        if self._found is None:
            raise IssuerUnavailableError(str(self._failure))
        return self._found

    def _start(self) -> None:
        if self._reading is None:
            self._reading = asyncio.create_task(self._run())

    async def _wait(self) -> None:
        if self._reading is not None:
            await asyncio.shield(self._reading)  # a caller that leaves must not stop it for the others

    async def _run(self) -> None:
        try:
            self._found, self._failure = await self._read(), None
            self._due_at = self._clock() + FRESH_SECONDS
        except IssuerUnavailableError as error:
            log.warning("%s", error)
            self._failure, self._due_at = error, self._clock() + RETRY_SECONDS
        finally:
            self._reading = None
