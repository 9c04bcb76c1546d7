"""Use one OpenID Connect issuer: verify its access tokens, and sign people in with the authorization code flow."""

import asyncio
import base64
import time
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote_plus, urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient, Outgoing, is_success
from docrail.adapters.oidc.access import IssuerAccess, SignIn
from docrail.adapters.oidc.errors import IssuerUnavailableError, TokenRefusedError, UnknownKeyError
from docrail.adapters.oidc.published import Endpoints, Publication, Published, read_endpoints, read_keys, send
from docrail.adapters.oidc.tokens import (
    Claims,
    Verified,
    check_access_token,
    check_id_token,
    verify_signature,
)

SIGN_IN_SCOPES = "openid profile email"
MOST_REDEMPTIONS = 20
"""Codes that are redeemed at the same time: anyone can invent codes, and the issuer serves others too."""


class _Tokens(BaseModel):
    id_token: str


class Issuer:
    """One issuer, with its keys cached."""

    def __init__(self, access: IssuerAccess, clock: Callable[[], float] = time.monotonic) -> None:
        hosts = {urlsplit(url).hostname or "" for url in (access.issuer, access.jwks_url) if url}
        self.access = access
        self._http = HttpClient(AllowedHosts.parse([*access.allowed_hosts, *sorted(hosts)]))
        self._published = Publication(self._read, clock)
        self._redemptions = asyncio.Semaphore(MOST_REDEMPTIONS)

    async def verify_access_token(self, token: str) -> Claims:
        """Return the claims of a valid access token. Raises: TokenRefusedError, IssuerUnavailableError."""
        if self.access.audience is None:
            raise TokenRefusedError("no audience is set")
        return check_access_token(await self._verified(token), self.access.issuer, self.access.audience)

    async def sign_in_url(self, sign_in: SignIn, redirect_uri: str) -> str:
        """Return the address of the issuer's sign-in page. Raises: IssuerUnavailableError."""
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": SIGN_IN_SCOPES,
            "state": sign_in.state,
            "nonce": sign_in.nonce,
            "code_challenge": sign_in.challenge,
            "code_challenge_method": "S256",
        }
        page = (await self._endpoints()).authorization_endpoint
        return f"{page}{'&' if urlsplit(page).query else '?'}{urlencode(query)}"

    async def redeem(self, code: str, sign_in: SignIn, redirect_uri: str) -> Claims:
        """Return the claims of the ID token for a code. Raises: TokenRefusedError, IssuerUnavailableError."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": sign_in.verifier,
        }
        if self._redemptions.locked():
            raise IssuerUnavailableError("too many sign-ins are being completed")
        async with self._redemptions:
            token = await self._verified(await self._id_token(form))
        return check_id_token(token, self.access.issuer, self._client_id, sign_in.nonce)

    async def _id_token(self, form: dict[str, str]) -> str:
        endpoints = await self._endpoints()
        headers, identified = self._client_authentication(endpoints)
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(form | identified).encode("ascii")
        answer = await send(self._http, Outgoing("POST", endpoints.token_endpoint, headers, body))
        if not is_success(answer.status):
            refused = HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
            kind = TokenRefusedError if refused else IssuerUnavailableError
            raise kind(f"{answer.request} answered {answer.status}")
        try:
            return _Tokens.model_validate_json(answer.body).id_token
        except ValidationError:
            raise TokenRefusedError(f"{answer.request} answered no ID token") from None

    def _client_authentication(self, endpoints: Endpoints) -> tuple[dict[str, str], dict[str, str]]:
        """Return the headers and form fields that identify the client (RFC 6749, 2.3.1)."""
        client_id, secret = self._client_id, self.access.client_secret
        if secret is None:
            return {}, {"client_id": client_id}
        if "client_secret_basic" not in endpoints.token_endpoint_auth_methods_supported:
            return {}, {"client_id": client_id, "client_secret": secret}
        pair = f"{quote_plus(client_id)}:{quote_plus(secret)}".encode("ascii")
        return {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}, {}

    @property
    def _client_id(self) -> str:
        assert self.access.client_id is not None, "no one signs in without a client"
        return self.access.client_id

    async def _verified(self, token: str) -> Verified:
        published = await self._published.current()
        try:
            return verify_signature(token, published.keys)
        except UnknownKeyError:
            published = await self._published.after_unknown_key()
            return verify_signature(token, published.keys)

    async def _endpoints(self) -> Endpoints:
        endpoints = (await self._published.current()).endpoints
        assert endpoints is not None, "they are read if there is a client"
        return endpoints

    async def _read(self) -> Published:
        access = self.access
        if access.jwks_url is not None and access.client_id is None:
            return Published(await read_keys(self._http, access.jwks_url))
        endpoints = await read_endpoints(self._http, access.issuer)
        return Published(await read_keys(self._http, access.jwks_url or endpoints.jwks_uri), endpoints)
