"""Authenticate callers and check their scopes: every route except those in PUBLIC uses one of these dependencies.

A request is authenticated by `Authorization: Bearer`, which has an API key or a token of an identity provider, else by
the cookie of a browser session, else, in local mode, by coming from this machine.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, assert_never, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from docrail.adapters.http.browsers import SAFE_METHODS
from docrail.adapters.log_context import become_busy_with
from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.adapters.postgres.tenants import enter_tenant
from docrail.api.body_sizes import BODY_BYTES
from docrail.api.parameters import AppDep
from docrail.services.access.identity_provider import IdentityProvider
from docrail.services.access.models import DEFAULT_TENANT, Method, Principal, Scope, local_principal
from docrail.services.access.service import PREFIX, SESSION_LIFETIME, check_session, verify_key, verify_session
from docrail.services.app import App
from docrail.services.definitions.service import prepare_tenant
from docrail.services.errors import CrossSite, Forbidden, Unauthenticated

COOKIE = "docrail_session"
NO_CREDENTIALS = (
    "this needs credentials: send the header `Authorization: Bearer docrail_...` with an API key, "
    "or sign in with POST /v1/session"
)

_BEARER = HTTPBearer(
    scheme_name="key", description="An API key, or a token of the identity provider.", auto_error=False
)
_COOKIE = APIKeyCookie(
    name=COOKIE, scheme_name="session", description="A session of `POST /v1/session`.", auto_error=False
)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call, besides holders of API keys."""

    local: Principal | None = None
    """The caller of requests without credentials; None: they are refused."""
    provider: IdentityProvider | None = None
    """Verifies bearer tokens that are not API keys, and signs people in; None: neither."""

    @classmethod
    def of_mode(cls, mode: str, provider: IdentityProvider | None = None) -> "Access":
        """Return the access of a mode, `keys` or `local`."""
        return cls(local_principal() if mode == "local" else None, provider)


def access_of(request: Request) -> Access:
    """Return who may call."""
    return cast("Access", request.app.state.access)


async def current_principal(
    request: Request,
    app: AppDep,
    _bearer: Annotated[object, Security(_BEARER)] = None,
    _session: Annotated[object, Security(_COOKIE)] = None,
) -> Principal:
    """Return the caller. Raises: Unauthenticated, CrossSite."""
    if (known := getattr(request.state, "principal", None)) is not None:  # of a request with a body: early_auth.py
        return cast("Principal", known)
    access, authorizations = access_of(request), request.headers.getlist("authorization")
    if len(authorizations) > 1:  # a proxy may have checked another one
        raise Unauthenticated("expected one header Authorization, found several")
    if authorizations:
        async with recorded(request, app):
            return await _of_header(app, access, authorizations[0])
    if (cookie := session_cookie(request)) is not None:
        return await _of_cookie(app, request, cookie)
    if access.local is not None:
        return access.local
    raise Unauthenticated(NO_CREDENTIALS)


def recorded(request: Request, app: App) -> AbstractAsyncContextManager[None]:
    """Record a refusal of the caller's credentials in the audit log."""
    return app.failed_sign_ins.recorded(app.db, request.client.host if request.client else "")


async def _of_header(app: App, access: Access, authorization: str) -> Principal:
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated(f"the header Authorization must be `Bearer` and a key, found the scheme {scheme[:20]!r}")
    if token.startswith(PREFIX):
        return await verify_key(app.credentials, token)
    if access.provider is None:
        raise Unauthenticated(f"the bearer token is not an API key: keys begin with {PREFIX}")
    return await access.provider.verify(app.db, token)


async def is_still(who: Principal, request: Request, app: App) -> bool:
    """Return whether the request's credentials still name this caller, for an answer that goes on for long.

    A database that does not answer revokes nothing.
    """
    try:
        match who.method:
            case Method.LOCAL | Method.INTERNAL:
                return True
            case Method.KEY | Method.TOKEN:
                return who == await _of_header(app, access_of(request), request.headers["authorization"])
            case Method.SESSION:
                return who == await check_session(app.credentials, session_cookie(request) or "")
            case _:
                assert_never(who.method)
    except Unauthenticated:
        return False
    except (OSError, TimeoutError, *DATABASE_ERRORS):
        return True


async def _of_cookie(app: App, request: Request, cookie: str) -> Principal:
    """Return the session's person. A browser adds cookies to any request, so changes need proof of their origin."""
    if request.method not in SAFE_METHODS:
        check_same_origin(request)
    try:
        opened = await verify_session(app.credentials, cookie)
    except Unauthenticated:
        request.state.new_cookie = ""  # no script can remove the old one
        raise
    if opened.new_cookie is not None:
        request.state.new_cookie = opened.new_cookie
    return opened.principal


def check_same_origin(request: Request) -> None:
    """Raise CrossSite unless a page of this API sent the request, as browsers report it in one of two headers."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None and site != "same-origin":
        raise CrossSite(f"Sec-Fetch-Site: {site}")
    if site is None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        raise CrossSite("no Origin" if origin is None else f"Origin: {origin}")


def cookie_name(request: Request, name: str = COOKIE) -> str:
    """Return the name of a cookie. Over https its prefix keeps neighbouring hosts from setting it (RFC 6265bis)."""
    return f"__Host-{name}" if request.url.scheme == "https" else name


def session_cookie(request: Request) -> str | None:
    """Return the value of the session's cookie; None without one. Raises: Unauthenticated if there are several."""
    name = cookie_name(request)
    cookies = ";".join(request.headers.getlist("cookie")).split(";")
    found = {value for key, _, value in (cookie.strip().partition("=") for cookie in cookies) if key == name}
    if len(found) > 1:  # a neighbouring host has added one, perhaps of a session of its own
        raise Unauthenticated(
            f"expected one cookie {name}, found several: remove this site's cookies and sign in again"
        )
    return next(iter(found), None)


def set_cookie(request: Request, response: Response, cookie: str) -> None:
    """Give the browser the cookie of its session, which no script can read and no other site can send; empty: none."""
    response.set_cookie(
        cookie_name(request),
        cookie,
        max_age=int(SESSION_LIFETIME.total_seconds()) if cookie else 0,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


class CookieRotation:
    """ASGI middleware that sends a session's new cookie with whatever response the request gets."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Handle the request."""

        async def with_cookie(message: Message) -> None:
            cookie = scope.get("state", {}).get("new_cookie")
            if message["type"] == "http.response.start" and cookie is not None:
                carrier = Response()
                set_cookie(Request(scope), carrier, cookie)
                MutableHeaders(scope=message).append("set-cookie", carrier.headers["set-cookie"])
            await send(message)

        await self._app(scope, receive, with_cookie)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A dependency that admits principals with `scope` to their tenant: the rest of the request sees its rows only.

    Without a scope, every authenticated principal is admitted.
    """

    scope: Scope | None = None
    also: Scope | None = None
    """A second scope that the route needs."""
    of_operator: bool = False
    """Whether only the operator's tenant is admitted: what the route is about belongs to all tenants."""

    async def __call__(
        self, who: Annotated[Principal, Depends(current_principal)], request: Request, app: AppDep
    ) -> Principal:
        """Return the caller. Raises: Forbidden, QuotaExceeded, TooLarge."""
        for needed in (self.scope, self.also):
            if needed is not None and needed not in who.scopes:
                raise Forbidden(needed)
        if self.of_operator and who.tenant_id != DEFAULT_TENANT:
            raise Forbidden(self.scope or "", tenant=DEFAULT_TENANT)
        enter_tenant(who.tenant_id)
        become_busy_with(request.path_params)
        await app.quotas.check_request(app.db, who, request.scope.get(BODY_BYTES, 0))
        if who.method in (Method.TOKEN, Method.SESSION):  # the first key of a tenant publishes them too
            await prepare_tenant(app, who.tenant_id)
        return who


SignedIn = Annotated[Principal, Depends(Requirement())]
MaySubmit = Annotated[Principal, Depends(Requirement(Scope.SUBMIT))]
MayRead = Annotated[Principal, Depends(Requirement(Scope.READ))]
MayReview = Annotated[Principal, Depends(Requirement(Scope.REVIEW))]
MayOperateRuns = Annotated[Principal, Depends(Requirement(Scope.OPERATE))]
MayArrangeRuns = Annotated[Principal, Depends(Requirement(Scope.OPERATE, also=Scope.SUBMIT))]
"""For triggers that start runs, now or later: whoever may not start a run may not let one be started."""
MayAdminister = Annotated[Principal, Depends(Requirement(Scope.ADMIN))]
MayReadTotals = Annotated[Principal, Depends(Requirement(Scope.READ, of_operator=True))]
"""For totals of all tenants."""
MayOperateAll = Annotated[Principal, Depends(Requirement(Scope.OPERATE, of_operator=True))]
"""For workers and schedules, which serve all tenants."""
MayAdministerAll = Annotated[Principal, Depends(Requirement(Scope.ADMIN, of_operator=True))]
"""For what all tenants share."""


def may_administer_all(who: Principal) -> bool:
    """Return whether the caller may change what all tenants share, for lists that say what is possible."""
    return Scope.ADMIN in who.scopes and who.tenant_id == DEFAULT_TENANT
