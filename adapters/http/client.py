"""Send HTTP requests to addresses named by definitions, checking every address before connecting.

httpx connects to the checked address, and uses the name only for Host and TLS: a name that changes its
address between the check and the connection (DNS rebinding) gains nothing. Proxy settings in the environment are
ignored.
"""

import asyncio
import ipaddress
import json
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus

import httpx

from docrail.adapters.http.addresses import MAX_PORT, Address, AllowedHosts
from docrail.adapters.http.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    UnreachableError,
    refusal,
    retry_after_of,
)
from docrail.adapters.redaction import Redaction, redaction
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json

MAX_BODY_BYTES = MAX_VALUE_BYTES - 2**14
"""Largest answer that fits into a step's output together with its headers."""

MAX_REDIRECTS = 5
CONNECT_SECONDS = 10.0
"""Timeout per address: a name whose first address is dead must still reach its second."""

MAX_HEADERS = 64
EXCERPT_CHARACTERS = 300

OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"}
    | {"accept-encoding"}
)
"""Headers that control the transport: setting them could smuggle a second request."""

_FOLLOWED = frozenset({301, 302, 303, 307, 308})
_HOST = re.compile(rb"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
"""A DNS name (after IDNA encoding), or an address."""

_FILES = ("image/", "audio/", "video/", "application/pdf", "application/zip", "application/octet-stream")
"""Content types that are not searched for secrets: what a handler makes of them is, as everything else it returns."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_PRINTABLE = re.compile(r"[\t\x20-\x7e]{0,8192}")
_PORTS = {"http": 80, "https": 443}

Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request. `max_bytes`: a longer answer is truncated and not `complete`."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout_seconds: float = 30.0
    max_bytes: int = MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `request` describes the request for error messages; header names are lowercase."""

    request: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool

    @property
    def is_json(self) -> bool:
        """Return whether the content type is JSON."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return kind in ("application/json", "text/json") or kind.endswith("+json")

    def text(self) -> str:
        """Return the body as text, as UTF-8 unless a charset is given; invalid bytes become U+FFFD."""
        charset = httpx.Headers(self.headers).get("content-type", "").partition("charset=")[2].split(";")[0].strip(' "')
        try:
            return self.body.decode(charset or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def redacted(self, own: Redaction) -> "Answer":
        """Return the answer without secrets: a service may echo what it was sent. JSON stays JSON, files stay whole."""
        if not own.values:
            return self
        headers = {own.text(name): own.text(value) for name, value in self.headers.items()}
        if self.headers.get("content-type", "").lower().startswith(_FILES):
            return replace(self, headers=headers)
        text = self.body.decode("utf-8", "surrogateescape")
        shown = own.text(text) if self.complete else own.beginning(text)
        if shown != text and self.complete and self.is_json:
            shown = _redacted_json(text, own) or shown
        return replace(self, headers=headers, body=shown.encode("utf-8", "surrogateescape"))

    def refusal(self) -> Exception:
        """Return the error that this answer means to a caller that expected another status."""
        text = redaction().text(self.text())  # again: in another charset than UTF-8 it may have shown nothing
        excerpt = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())[:EXCERPT_CHARACTERS]
        if self.status in _FOLLOWED:
            excerpt = f"redirects are followed for GET only; it points to {_origin(self.headers.get('location', ''))}"
        return refusal(self.request, self.status, excerpt, retry_after=retry_after_of(self.headers))


def _redacted_json(text: str, own: Redaction) -> str | None:
    try:
        return json.dumps(own.json(json.loads(text)))
    except (ValueError, RecursionError):
        return None


def read_json(text: str, request: str) -> Json:
    """Parse an answer's JSON. Raises: AnswerUnusableError."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise AnswerUnusableError(f"{request} answered invalid JSON: {reason}") from None


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a name, in the system resolver's order. Raises: UnreachableError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError(f"the host {host} has no address: {error}") from None
    return list(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


@dataclass(frozen=True, slots=True)
class HttpClient:
    """Send requests to public addresses and to `allowed` ones. Keeps no connections, so no two names share one."""

    allowed: AllowedHosts = field(default_factory=AllowedHosts)
    resolver: Resolver = resolve
    tls: ssl.SSLContext | None = None
    """TLS context for verification; by default the root certificates of httpx, or of SSL_CERT_FILE."""

    async def send(self, outgoing: Outgoing) -> Answer:
        """Return the answer, whatever its status; redirects of GET and HEAD are followed and checked again.

        Raises: AnswerUnusableError, ValueError (never retried); RefusedAddressError, UnreachableError,
        OutgoingTimeoutError (retried).
        """
        url = checked_url(outgoing.url)
        headers = checked_headers(outgoing.headers)
        try:
            async with asyncio.timeout(outgoing.timeout_seconds):
                return await self._follow(outgoing, url, headers)
        except (TimeoutError, httpx.TimeoutException):
            seconds = f"{outgoing.timeout_seconds:g} s"
            raise OutgoingTimeoutError(f"{_request(outgoing, url)} gave no whole answer within {seconds}") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise UnreachableError(f"{_request(outgoing, url)} failed: {reason}") from None

    async def _follow(self, outgoing: Outgoing, url: httpx.URL, headers: httpx.Headers) -> Answer:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._send_to(outgoing, url, headers)
            location = answer.headers.get("location")
            if answer.status not in _FOLLOWED or outgoing.method not in ("GET", "HEAD") or location is None:
                return answer
            target = _checked_target(_join(url, location), url)
            if (url.scheme, target.scheme) == ("https", "http"):
                raise RefusedUrlError(f"the host {target.host} is refused: {url.host} redirects from https to http")
            if _origin(str(target)) != _origin(str(url)):
                headers = httpx.Headers()  # do not forward headers, which may contain credentials, to another host
            url = target
        raise AnswerUnusableError(f"{_request(outgoing, url)} redirects more than {MAX_REDIRECTS} times")

    async def _send_to(self, outgoing: Outgoing, url: httpx.URL, headers: httpx.Headers) -> Answer:
        """Try the addresses of the URL's host in turn, until one accepts the connection."""
        host, port = url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]
        addresses = await self.checked_addresses(host, port)
        failure: Exception = UnreachableError(f"the host {host} has no address")
        for address in addresses:
            try:
                return await self._exchange(outgoing, url, address, headers)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def checked_addresses(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host that may be connected to. Raises: RefusedAddressError, UnreachableError."""
        addresses = await self.resolver(host, port)
        # check all before connecting: a name that mixes public and internal addresses is not trusted
        for address in addresses:
            self.allowed.check(host, port, address)
        return addresses

    async def _exchange(self, outgoing: Outgoing, url: httpx.URL, address: Address, headers: httpx.Headers) -> Answer:
        limit = httpx.Timeout(outgoing.timeout_seconds, connect=min(CONNECT_SECONDS, outgoing.timeout_seconds))
        complete = httpx.Headers({"User-Agent": "Docrail"})
        complete.update(headers)
        complete.update({"Host": url.netloc.decode("ascii"), "Accept-Encoding": "identity"})
        transport = httpx.AsyncHTTPTransport(verify=self.tls or _default_tls(), trust_env=False)
        async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=limit) as client:
            request = client.build_request(
                outgoing.method,
                url.copy_with(host=str(address)),
                headers=complete,
                content=outgoing.body,
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            response = await client.send(request, stream=True)
            try:
                return await _read(_request(outgoing, url), response, outgoing.max_bytes)
            finally:
                await response.aclose()


async def _read(request: str, response: httpx.Response, max_bytes: int) -> Answer:
    """Read an answer up to the limit. It was requested uncompressed, so that it cannot expand."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise AnswerUnusableError(f"{request} answered in the encoding {encoding!r}: expected none")
    chunks, size = [], 0
    async for chunk in response.aiter_raw():
        chunks.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            break
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(request, response.status_code, headers, b"".join(chunks)[:max_bytes], size <= max_bytes)


URL_PATTERN = r"^https?://[^/?#:@\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
"""What a JSON Schema can say of a URL that can be called: its scheme, that it has a host, and no control characters."""


class RefusedUrlError(ValueError):
    """A URL that is never called, whatever the operator allows."""


def checked_url(text: str) -> httpx.URL:
    """Return the parsed URL if it can be called. Raises: ValueError, RefusedUrlError."""
    if "secret://" in text:
        raise ValueError(
            "the URL contains a secret:// reference, which is resolved in headers only: URLs appear in logs"
        )
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ValueError(f"{text[:80]!r} is not a URL: {error}") from None
    if url.scheme not in _PORTS or not _HOST.fullmatch(url.raw_host):
        raise ValueError(f"{text[:80]!r} is not a URL that can be called: expected http:// or https:// and a host")
    if url.port is not None and not 0 < url.port <= MAX_PORT:
        raise ValueError(f"{text[:80]!r} is not a URL that can be called: {url.port} is not a port")
    if url.userinfo:
        message = "the URL contains a user name or password; use a header with secret://name"
        raise RefusedUrlError(f"the host {url.host} is refused: {message}")
    return url


def checked_headers(headers: Mapping[str, str]) -> httpx.Headers:
    """Return the headers if a request may carry them. Raises: ValueError, which never contains a value."""
    if len(headers) > MAX_HEADERS:
        raise ValueError(f"{len(headers)} headers, more than {MAX_HEADERS}")
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name[:80]!r} is not a valid header name")
        if name.lower() in OURS or name.lower().startswith("proxy-"):
            raise ValueError(f"the header {name} cannot be set by a step")
        if not _PRINTABLE.fullmatch(value):
            raise ValueError(f"the header {name} contains other characters than printable ASCII, or more than 8192")
    return httpx.Headers(dict(headers))


def _join(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except httpx.InvalidURL:
        raise AnswerUnusableError(f"{_origin(str(url))} redirects to an invalid URL") from None


def _checked_target(location: str, url: httpx.URL) -> httpx.URL:
    """Return where a redirect leads. Raises: RefusedUrlError; AnswerUnusableError, which does not repeat it."""
    try:
        return checked_url(location)
    except RefusedUrlError:
        raise
    except ValueError:
        expected = "expected http:// or https:// and a host"
        raise AnswerUnusableError(f"{_origin(str(url))} redirects elsewhere: {expected}") from None


def _request(outgoing: Outgoing, url: httpx.URL) -> str:
    return f"{outgoing.method} {_origin(str(url))}"


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL, which contain no secrets."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return "an invalid URL"
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


@cache
def _default_tls() -> ssl.SSLContext:
    """Return the shared TLS context: loading the root certificates takes a tenth of a second."""
    return httpx.create_ssl_context()


def is_success(status: int) -> bool:
    """Check whether a status is 2xx."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
