"""Routes of callers: who they are, and their browser sessions."""

from typing import Annotated

from fastapi import Path, Request, Response
from pydantic import BaseModel, Field

from docrail.api.auth import MayAdminister, SignedIn, access_of, check_same_origin, recorded, session_cookie, set_cookie
from docrail.api.errors import problems, problems_without_key
from docrail.api.parameters import After, AppDep, Limit
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access import service
from docrail.services.access.models import Me, Session, describe_principal
from docrail.services.errors import CrossSite, NotFound, Unauthenticated
from docrail.services.model_config import body

router = PrefixRouter(prefix="/v1", tags=["access"])


SessionId = Annotated[str, Path(max_length=64, pattern=r"^[^\x00]*$", description="Id of the session.")]


class SignIn(BaseModel):
    """An API key to sign in with."""

    model_config = body({"key": "docrail_0123456789abcdef_..."})

    key: Annotated[str, Field(max_length=200)]
    """The whole key."""


class SignInMethodsOut(BaseModel):
    """How people may sign in here with a browser."""

    key: bool = Field(description="whether a session needs an API key or the identity provider; false in local mode")
    single_sign_on: bool = Field(description="whether `GET /v1/session/oidc` leads to an identity provider")


class SessionListOut(BaseModel):
    """A page of open sessions."""

    sessions: list[Session] = Field(description="the sessions, newest first")
    after: str | None


@router.get("/me", responses=problems())
async def show_me(who: SignedIn) -> Me:
    """Show who the caller is: name, tenant, scopes, and how they were authenticated."""
    return describe_principal(who)


@router.get("/session/methods", responses=problems_without_key())
async def list_sign_in_methods(request: Request) -> SignInMethodsOut:
    """List how people may sign in here. Callable without credentials, for the page on which they do."""
    access = access_of(request)
    has_provider = access.provider is not None and access.provider.issuer.access.client_id is not None
    return SignInMethodsOut(key=access.local is None, single_sign_on=has_provider)


@router.post("/session", status_code=201, responses=problems_without_key(Unauthenticated, CrossSite))
async def sign_in(wanted: SignIn, request: Request, response: Response, app: AppDep) -> Me:
    """Sign in with an API key. The answer sets the session's cookie, which lasts 12 hours or as long as the key."""
    if {"sec-fetch-site", "origin"} & set(request.headers):
        check_same_origin(request)  # another site must not sign a browser in as a person of its choice
    async with recorded(request, app):
        who = await service.verify_key(app.credentials, wanted.key)
    if old := session_cookie(request):
        await service.end_session(app.credentials, old)
    set_cookie(request, response, await service.open_session(app.db, who, key=wanted.key))
    return describe_principal(who)


@router.delete("/session", status_code=204, responses=problems())
async def sign_out(_: SignedIn, request: Request, app: AppDep) -> None:
    """Sign out: end the session of the cookie."""
    if cookie := session_cookie(request):
        await service.end_session(app.credentials, cookie)
    request.state.new_cookie = ""  # also if the cookie was just replaced


@router.get("/sessions", responses=problems())
async def list_sessions(who: MayAdminister, app: AppDep, limit: Limit = 100, after: After = None) -> SessionListOut:
    """List the tenant's open browser sessions."""
    sessions, next_page = await service.list_sessions(app.db, who, limit=limit, after=after)
    return SessionListOut(sessions=sessions, after=next_page)


@router.delete("/sessions/{session_id}", responses=problems(NotFound))
async def revoke_session(session_id: SessionId, who: MayAdminister, app: AppDep) -> Session:
    """End a browser session. Its cookie is refused at once, by every process."""
    return await service.revoke_session(app.db, who, session_id)
