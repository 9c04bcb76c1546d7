"""Guard the border to browsers: refuse requests of foreign pages, and keep answers from them (ADR 35).

The decision itself is `adapters/http/browsers.py`.
"""

import ipaddress
from collections import defaultdict
from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from docrail.adapters.http.browsers import Hosts, Reason
from docrail.adapters.http.browsers import refusal as refusal_of
from docrail.api.errors import CALLBACKS_PATH, SAFE_HEADERS, refusal
from docrail.services.errors import CrossSite, OperationError, UnknownHost

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

REFUSALS: Mapping[Reason, type[UnknownHost] | type[CrossSite]] = {"unknown-host": UnknownHost, "cross-site": CrossSite}


class Boundary:
    """ASGI middleware. It also reads what trusted proxies say about the caller: address, scheme and host."""

    def __init__(self, app: ASGIApp, hosts: Hosts, proxies: Sequence[Network] = ()) -> None:
        self._app = app
        self._hosts = hosts
        self._proxies = proxies
        # It sets the caller's address and scheme. With no trusted proxies it changes nothing.
        self._forwarded = ProxyHeadersMiddleware(self._judged, [str(network) for network in proxies])  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse it without reading its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._is_trusted(scope["client"]) and (host := _values(scope).get("x-forwarded-host")):
            MutableHeaders(scope=scope)["host"] = host[-1].rpartition(",")[2].strip()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._forwarded(scope, receive, guarded)  # type: ignore[arg-type]  # uvicorn has its own names for them

    async def _judged(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._error(scope)
        await (self._app if error is None else refusal(error))(scope, receive, send)

    def _error(self, scope: Scope) -> OperationError | None:
        # Callbacks are posted by servers, and their URLs are signed.
        signed = scope["path"].startswith(CALLBACKS_PATH)
        refused = refusal_of(scope["method"], _values(scope), self._hosts, signed=signed)
        return refused and REFUSALS[refused[0]](refused[1])

    def _is_trusted(self, client: tuple[str, int] | None) -> bool:
        return client is not None and any(ipaddress.ip_address(client[0]) in network for network in self._proxies)


def _values(scope: Scope) -> Mapping[str, Sequence[str]]:
    found = defaultdict[str, list[str]](list)
    for name, value in scope["headers"]:
        found[name.decode("latin-1").lower()].append(value.decode("latin-1"))
    return found
