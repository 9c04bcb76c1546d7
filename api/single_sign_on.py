"""Routes by which people sign in with a browser at the identity provider (authorization code flow with PKCE).

The random values of a sign-in are in a cookie, and nowhere else: only the browser that began one can complete it, and
requests of strangers store nothing. The cookie needs no signature, as its values protect no one but their browser.

The session's cookie is SameSite=Strict: a browser sends it only with requests that a page of this API caused. The
provider's redirect to the callback is not one, nor is a further redirect from there. So the callback answers with a
page, which leads on.
"""

import hmac
import re
from dataclasses import asdict, fields
from html import escape
from typing import Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from docrail.adapters.oidc.access import SignIn
from docrail.api.auth import access_of, cookie_name, recorded, session_cookie, set_cookie
from docrail.api.errors import problems_without_key, refusal
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access.identity_provider import IdentityProvider
from docrail.services.access.service import end_session, open_session
from docrail.services.app import App
from docrail.services.errors import NotAdmitted, NotFound, OperationError, Unauthenticated

router = PrefixRouter(prefix="/v1/session/oidc", tags=["access"])

SIGN_IN_COOKIE = "docrail_sign_in"
SIGN_IN_SECONDS = 600
MOST_PAGE_CHARACTERS = 500
PAGE_PATTERN = r"^/([A-Za-z0-9_.~%?=&:@+,;-][A-Za-z0-9_.~%?=&:@+,;/#-]*)?$"
"""Paths of this origin: `//host` and `/\\host` would lead to another."""

HEADERS = {"Cache-Control": "no-store"}
SIGNED_IN = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={page}">
<title>Signed in</title>
<p>You are signed in. <a href="{page}">Continue</a></p>
</html>
"""

Page = Annotated[
    str | None,
    Query(
        alias="next",
        pattern=PAGE_PATTERN,
        max_length=MOST_PAGE_CHARACTERS,
        description="where to go afterwards: a path of this server, that of the console if not given",
    ),
]


@router.get(
    "",
    status_code=303,
    response_class=RedirectResponse,
    responses=problems_without_key(NotFound) | {303: {"description": "Go to the identity provider"}},
)
async def begin_sign_in(request: Request, page: Page = None) -> Response:
    """Sign in with a browser: redirects to the identity provider, which sends the person back to the callback."""
    sign_in = SignIn()
    response = RedirectResponse(await _provider(request).begin(sign_in, _callback_url(request)), 303, HEADERS)
    values = asdict(sign_in) | {"page": page or _usual_page(request)}
    response.set_cookie(
        cookie_name(request, SIGN_IN_COOKIE),
        urlencode(values),
        max_age=SIGN_IN_SECONDS,
        httponly=True,
        samesite="lax",  # the provider's redirect to the callback must carry it
        secure=request.url.scheme == "https",
    )
    return response


@router.get(
    "/callback",
    response_class=HTMLResponse,
    responses=problems_without_key(Unauthenticated, NotAdmitted, NotFound),
)
async def complete_sign_in(
    request: Request,
    app: AppDep,
    state: Annotated[str, Query(description="the state of the sign-in that this browser began")] = "",
    code: Annotated[str, Query(description="the identity provider's code")] = "",
) -> Response:
    """Complete a sign-in: the answer sets the session's cookie, and leads to the page where it began."""
    try:
        response = await _complete(request, app, state, code)
    except OperationError as error:
        response = refusal(error)
    name, is_secure = cookie_name(request, SIGN_IN_COOKIE), request.url.scheme == "https"
    response.delete_cookie(name, httponly=True, samesite="lax", secure=is_secure)
    return response


async def _complete(request: Request, app: App, state: str, code: str) -> Response:
    provider, (sign_in, page) = _provider(request), _begun(request)
    if sign_in is None or not hmac.compare_digest(sign_in.state.encode(), state.encode(errors="replace")):
        known = "this browser has begun no such sign-in in the last ten minutes"
        raise Unauthenticated(f"{known}: begin again at GET /v1/session/oidc")
    if not code:  # its reason is text of whoever made the link, so it is not repeated
        raise Unauthenticated("the identity provider did not sign you in: begin again at GET /v1/session/oidc")
    async with recorded(request, app):
        who = await provider.complete(app.db, code, sign_in, _callback_url(request))
    if old := session_cookie(request):
        await end_session(app.credentials, old)
    response = HTMLResponse(SIGNED_IN.format(page=escape(page or _usual_page(request))), headers=HEADERS)
    issuer, lifetime = provider.issuer.access.issuer, provider.session_lifetime
    set_cookie(request, response, await open_session(app.db, who, issuer=issuer, lifetime=lifetime))
    return response


def _begun(request: Request) -> tuple[SignIn | None, str]:
    """Return the sign-in that this browser has begun, and the page to lead to."""
    values = dict(parse_qsl(request.cookies.get(cookie_name(request, SIGN_IN_COOKIE), "")))
    page = values.pop("page", "")
    if not re.fullmatch(PAGE_PATTERN, page):  # without https a neighbouring host can set cookies
        page = ""
    names = {each.name for each in fields(SignIn)}
    return (SignIn(**values) if values.keys() == names else None), page


def _provider(request: Request) -> IdentityProvider:
    """Return the identity provider. Raises: NotFound."""
    provider = access_of(request).provider
    if provider is None or provider.issuer.access.client_id is None:
        raise NotFound("identity provider", "oidc", asked_by="DOCRAIL_OIDC_CLIENT_ID is not set")
    return provider


def _callback_url(request: Request) -> str:
    return _public_url(request) + router.prefix + "/callback"


def _usual_page(request: Request) -> str:
    return urlsplit(_public_url(request)).path + "/"


def _public_url(request: Request) -> str:
    return str(request.app.state.public_url or request.base_url).rstrip("/")
