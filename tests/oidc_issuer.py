"""A small OpenID Connect issuer on loopback: discovery, keys, a sign-in page that asks nothing, tokens.

It also mints the tokens that an attacker would send.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote_plus, urlencode

import uvicorn
from joserfc import jws
from joserfc.jwk import ECKey, Key, KeyParameters, KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from docrail.dag.values.json_values import Json
from tests.stack import eventually

AUDIENCE = "docrail-api"
CLIENT, SECRET = "docrail-web", "s3cret: with + and &"
HOUR_SECONDS = 3600
SIGNING = {"RSA": "RS256", "EC": "ES256"}


def new_key(kid: str, kind: str = "EC") -> Key:
    parameters: KeyParameters = {"kid": kid, "use": "sig", "alg": SIGNING[kind]}
    return RSAKey.generate_key(2048, parameters) if kind == "RSA" else ECKey.generate_key("P-256", parameters)


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def raw(header: Json, payload: bytes, signature: bytes = b"") -> str:
    """Return a token that no library would make."""
    return ".".join(map(encoded, (json.dumps(header).encode(), payload, signature)))


@dataclass(frozen=True, slots=True)
class Grant:
    """What a code stands for."""

    redirect_uri: str
    challenge: str
    nonce: str


def ann() -> dict[str, Json]:
    return {"sub": "subject-ann", "preferred_username": "Ann", "roles": ["clerks"]}


@dataclass
class LoopbackIssuer:
    """The issuer. `keys`: those that it publishes; the first signs. `person`: whoever is signed in at it."""

    url: str = ""
    keys: list[Key] = field(default_factory=lambda: [new_key("first"), new_key("second", "RSA")])
    person: dict[str, Json] = field(default_factory=ann)
    discovery: dict[str, Json] = field(default_factory=dict)
    """Changes to the discovery document."""
    id_token_changes: dict[str, Json] = field(default_factory=dict)
    status: int = 200
    """Status of every answer."""
    asked: list[str] = field(default_factory=list)
    """Paths of the requests that came in."""
    grants: dict[str, Grant] = field(default_factory=dict)
    redeeming: asyncio.Event = field(default_factory=asyncio.Event)
    """Codes are redeemed while it is set."""
    open_redemptions: int = 0
    most_redemptions: int = 0
    """Most codes that were redeemed at the same time."""

    def claims(self, **changes: Json) -> dict[str, Json]:
        """Return an access token's claims for the person; a claim that is changed to None is left out."""
        now = int(time.time())
        usual = {"iss": self.url, "aud": AUDIENCE, "iat": now, "exp": now + HOUR_SECONDS, **self.person}
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def token(self, *, header: Mapping[str, Json] | None = None, key: Key | None = None, **changes: Json) -> str:
        """Return an access token for this API, with what an attacker or a mistake changes in it."""
        return self.sign(json.dumps(self.claims(**changes)).encode(), header=header, key=key)

    def sign(self, payload: bytes, *, header: Mapping[str, Json] | None = None, key: Key | None = None) -> str:
        signing = key or self.keys[0]
        shown = {"alg": SIGNING.get(signing.key_type), "typ": "at+jwt", "kid": signing.kid, **(header or {})}
        shown = {name: value for name, value in shown.items() if value is not None}
        signed = f"{encoded(json.dumps(shown).encode())}.{encoded(payload)}"
        return f"{signed}.{encoded(jws.JWSRegistry.algorithms[shown['alg']].sign(signed.encode(), signing))}"

    def rotate(self, kid: str, *, keeping: bool = True) -> None:
        """Sign with a new key from now on; the others stay published if `keeping`."""
        self.keys = [new_key(kid), *(self.keys if keeping else [])]

    def reset(self) -> None:
        """Take back what a test has changed, but for the keys."""
        self.person, self.discovery, self.id_token_changes, self.status = ann(), {}, {}, 200
        self.redeeming.set()

    def readings(self) -> int:
        """Return how often the keys were read."""
        return self.asked.count("/keys")

    def routes(self) -> list[Route]:
        return [
            Route("/.well-known/openid-configuration", self._discovery),
            Route("/keys", self._keys),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
        ]

    async def _discovery(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        document = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }
        return JSONResponse(document | self.discovery, self.status)

    async def _keys(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        return JSONResponse(KeySet(self.keys).as_dict(private=False), self.status)

    async def _authorize(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        asked = request.query_params
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(asked["redirect_uri"], asked["code_challenge"], asked["nonce"])
        answer = {"code": code, "state": asked["state"], "iss": self.url, "session_state": "4711"}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        form = await request.form()
        self.open_redemptions += 1
        self.most_redemptions = max(self.most_redemptions, self.open_redemptions)
        await self.redeeming.wait()
        self.open_redemptions -= 1
        if not _is_client(request.headers.get("authorization", "")):
            return JSONResponse({"error": "invalid_client"}, 401)
        grant = self.grants.pop(str(form["code"]), None)  # a code works once
        proof = encoded(hashlib.sha256(str(form["code_verifier"]).encode()).digest())
        if grant is None or (grant.redirect_uri, grant.challenge) != (form["redirect_uri"], proof):
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = self.claims(**({"aud": CLIENT, "nonce": grant.nonce} | self.id_token_changes))
        id_token = self.sign(json.dumps(claims).encode(), header={"typ": "JWT"})
        return JSONResponse({"access_token": "unused", "token_type": "Bearer", "id_token": id_token}, self.status)


def _is_client(authorization: str) -> bool:
    user, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
    return (unquote_plus(user), unquote_plus(password)) == (CLIENT, SECRET)


@asynccontextmanager
async def loopback_issuer() -> AsyncIterator[LoopbackIssuer]:
    """Serve the issuer on a free port."""
    issuer = LoopbackIssuer()
    issuer.redeeming.set()
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=issuer.routes()), port=0, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    try:
        await eventually(lambda: server.started or serving.done(), "the issuer to listen")
        issuer.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield issuer
    finally:
        server.should_exit = True
        await serving
