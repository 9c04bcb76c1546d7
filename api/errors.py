"""Translate refusals and invalid requests into problem+json responses (RFC 9457).

Each refusal has its status, `type` and fields in `KINDS`; no other module knows a status. Requests that the framework
cannot parse are described in words: what was found, what was expected.

In one file because a refusal's status, its fields and its OpenAPI documentation must agree.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from docrail.adapters.temporal.codec import PayloadKeyError
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.dag.values.wording import describe, wording
from docrail.services.errors import (
    AlreadyAnswered,
    AlreadyDecided,
    CallbackOver,
    ClaimedByOther,
    ClaimLost,
    Damaged,
    DecisionOutdated,
    FailedTests,
    Forbidden,
    InvalidDefinition,
    InvalidInput,
    InvalidRouting,
    KeyConflict,
    MayNotDecide,
    NotFound,
    NothingToTakeBack,
    NothingToUndo,
    OperationError,
    Outdated,
    TooLarge,
    Unavailable,
    WrongState,
)

MEDIA_TYPE = "application/problem+json"


RETRY_AFTER_SECONDS = "2"
"""Sent to callers while a service is unavailable: clients here reconnect within about a second of its return."""


log = logging.getLogger(__name__)


class _ProblemResponse(JSONResponse):
    """Replaces unpaired surrogates, which a response cannot contain but may repeat from the request, by `?`."""

    def render(self, content: Json) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


class BodyTooLargeError(HTTPException):
    """Stops reading a body. An HTTPException, because the framework treats all others as a malformed body."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.limit_bytes = limit_bytes


EVERYWHERE = (Forbidden, InvalidInput, Unavailable)


class ProblemOut(BaseModel):
    """Why a request was refused (RFC 9457). `type` is stable and for programs; `detail` is for people."""

    type: str = Field(examples=["/problems/not-found"])
    title: str
    status: int
    detail: str
    problems: list[dict[str, Json]] | None = Field(
        default=None,
        description="every problem: path, message, suggestion; for definitions also code, line, column; "
        "for tests the test, the expected and the found value",
    )
    state: str | None = Field(default=None, description="the state that refused")
    differences: list[str] | None = Field(default=None, description="what differs from the first request with this key")
    limit_bytes: int | None = None
    current: int | None = Field(default=None, description="the current revision")
    decided_by: str | None = Field(default=None, description="the person who decided first")
    decision: Json = Field(default=None, description="the first decision")
    scope: str | None = Field(default=None, description="the missing scope")
    service: str | None = Field(default=None, description="the service that does not answer")


SCHEMA = f"#/components/schemas/{ProblemOut.__name__}"


_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
)
"""Errors of a PostgreSQL that is stopping, starting or full, and of a blob store with a full disk."""


def problems(*errors: type[OperationError]) -> dict[int | str, dict[str, Json]]:
    """Return the OpenAPI `responses` of a route with these refusals; those in EVERYWHERE are always included.

    `register` adds the refusal of large bodies to all routes with a body.
    """
    return _responses(*errors, *EVERYWHERE)


def problems_without_key(*errors: type[OperationError]) -> dict[int | str, dict[str, Json]]:
    """Return the OpenAPI `responses` of a route that requires no scope."""
    return _responses(*errors, *(error for error in EVERYWHERE if error is not Forbidden))


def _responses(*errors: type[OperationError]) -> dict[int | str, dict[str, Json]]:
    documented: dict[int | str, dict[str, Json]] = {}
    for kind in (KINDS[error] for error in dict.fromkeys(errors)):
        content = {MEDIA_TYPE: {"schema": {"$ref": SCHEMA}, "examples": {}}}
        response = documented.setdefault(int(kind.status), {"description": kind.title, "content": content})
        response["content"][MEDIA_TYPE]["examples"][kind.name] = {
            "summary": kind.title,
            "value": _body(kind.name, kind.title, kind.status, kind.example),
        }
    return documented


def register(app: FastAPI) -> None:
    """Make `app` return every error as problem+json."""
    for error in KINDS:
        app.add_exception_handler(error, _refused)
    for cause in _UNAVAILABLE:
        app.add_exception_handler(cause, _unavailable)
    app.add_exception_handler(PayloadKeyError, _unreadable)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(BodyTooLargeError, _too_large)
    # a subclass of InterfaceError, but a bug: no service is unavailable
    app.add_exception_handler(asyncpg.DataError, _failed)
    app.add_exception_handler(Exception, _failed)
    app.openapi = partial(_openapi, app.openapi)  # type: ignore[method-assign] # the framework's documented way


def refusal(error: OperationError) -> JSONResponse:
    """Return the response for `error`."""
    kind = KINDS[type(error)]
    more = {name: _plain(getattr(error, name)) for name in kind.fields}
    headers = {"Retry-After": RETRY_AFTER_SECONDS} if kind.status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return _answer(_body(kind.name, kind.title, kind.status, str(error), **more), headers)


def _openapi(generate: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Add what applies to all routes: the refusal of large bodies, and the schema that `problems` refers to.

    The framework would also document the schema as plain application/json.
    """
    document = generate()
    document["components"]["schemas"].setdefault(ProblemOut.__name__, ProblemOut.model_json_schema())
    for methods in document["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                operation["responses"] |= {str(status): each for status, each in _responses(TooLarge).items()}
    return document


async def _refused(_: Request, error: Exception) -> JSONResponse:
    return refusal(cast("OperationError", error))


async def _unavailable(_: Request, error: Exception) -> JSONResponse:
    log.warning("storage is unavailable: %r", error)
    return refusal(Unavailable("storage", type(error).__name__))


async def _unreadable(_: Request, error: Exception) -> JSONResponse:
    log.warning("cannot read from Temporal: %s", error)
    return refusal(Unavailable("Temporal", str(error)))


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    content_type = request.headers.get("content-type", "")
    return refusal(InvalidInput([*faults(cast("RequestValidationError", error), content_type)]))


async def _http(_: Request, error: Exception) -> JSONResponse:
    """Answer the framework's refusals: an unknown path, a wrong method, an invalid form."""
    refused = cast("HTTPException", error)
    if unreadable := unreadable_body(refused):
        return refusal(InvalidInput([InputProblem("body", unreadable)]))
    status = HTTPStatus(refused.status_code)
    name = status.phrase.lower().replace(" ", "-")
    return _answer(_body(name, status.phrase, status, str(refused.detail)), refused.headers)


async def _too_large(_: Request, error: Exception) -> JSONResponse:
    return refusal(TooLarge(cast("BodyTooLargeError", error).limit_bytes))


async def _failed(request: Request, error: Exception) -> JSONResponse:
    """Answer a bug without exposing its details, which are in the log."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _answer(_body("internal", "Internal error", status, "the error is in the server's log"))


def _body(name: str, title: str, status: HTTPStatus, detail: str, **more: Json) -> dict[str, Json]:
    return {"type": f"/problems/{name}", "title": title, "status": int(status), "detail": detail, **more}


def _answer(body: dict[str, Json], headers: Mapping[str, str] | None = None) -> JSONResponse:
    return _ProblemResponse(body, body["status"], headers, MEDIA_TYPE)


def _plain(value: Json) -> Json:
    """Return an error's field as JSON: its problems are dataclasses."""
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else asdict(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """One `type` of problem. `fields`: the error's fields included in the response."""

    status: HTTPStatus
    name: str
    title: str
    example: str
    fields: tuple[str, ...] = ()


KINDS: Mapping[type[OperationError], Kind] = {
    NotFound: Kind(HTTPStatus.NOT_FOUND, "not-found", "Not found", "there is no run 'invoice.4711'"),
    Forbidden: Kind(HTTPStatus.FORBIDDEN, "forbidden", "Not allowed", "this needs the scope 'operate'", ("scope",)),
    KeyConflict: Kind(
        HTTPStatus.CONFLICT,
        "key-conflict",
        "The idempotency key belongs to another request",
        "the key '4711' was used before with another request; different: inputs.amount",
        ("differences",),
    ),
    WrongState: Kind(
        HTTPStatus.CONFLICT, "wrong-state", "Not in this state", "cannot resume: the run is completed", ("state",)
    ),
    AlreadyDecided: Kind(
        HTTPStatus.CONFLICT,
        "already-decided",
        "Already decided",
        "ann has already decided this, and the first decision counts",
        ("decided_by", "decision"),
    ),
    MayNotDecide: Kind(HTTPStatus.FORBIDDEN, "may-not-decide", "Not allowed to decide", "ann started the run, and ..."),
    AlreadyAnswered: Kind(
        HTTPStatus.CONFLICT,
        "already-answered",
        "Already answered",
        "this has already been answered differently, and the first answer counts",
    ),
    CallbackOver: Kind(
        HTTPStatus.GONE,
        "callback-over",
        "Callback URL no longer valid",
        "this callback URL is no longer valid: its step is no longer waiting",
    ),
    InvalidDefinition: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-definition",
        "The definition is not valid",
        "the definition has 2 problems",
        ("problems",),
    ),
    FailedTests: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "failed-tests",
        "Tests of the definition failed",
        "1 of the definition's 3 tests failed",
        ("problems",),
    ),
    InvalidRouting: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-routing",
        "The routing rules are not valid",
        "the routing rules have 2 problems",
        ("problems",),
    ),
    NothingToUndo: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-undo",
        "Nothing to undo",
        "the alias 'stable' of 'invoice' has never named another version: ...",
    ),
    Outdated: Kind(
        HTTPStatus.CONFLICT,
        "outdated",
        "Changed by someone else meanwhile",
        "the routing rules were changed meanwhile: you read revision 3, expected the current one, 4",
        ("current",),
    ),
    Damaged: Kind(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "damaged",
        "The stored definition is damaged",
        "version 3 of the definition 'invoice' is not what was published: ...; restore the row from a backup",
    ),
    InvalidInput: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-input",
        "The request is not valid",
        "inputs.document_id: is required",
        ("problems",),
    ),
    TooLarge: Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too-large",
        "Body too large",
        "larger than the limit of 26214400 bytes",
        ("limit_bytes",),
    ),
    Unavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "Service unavailable",
        "worker is not available: no worker answered in time",
        ("service",),
    ),
    ClaimedByOther: Kind(
        HTTPStatus.CONFLICT, "claimed", "Claimed by someone else", "ann has claimed this item: ...", ("claimed_by",)
    ),
    ClaimLost: Kind(
        HTTPStatus.CONFLICT,
        "claim-lost",
        "Claim no longer valid",
        "this needs the token of a valid claim of yours, but ...",
        ("claimed_by",),
    ),
    DecisionOutdated: Kind(
        HTTPStatus.CONFLICT,
        "decision-outdated",
        "Changed since it was shown",
        "the document's fields or problems have changed since it was shown: load it again",
        ("digest",),
    ),
    NothingToTakeBack: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-take-back",
        "Nothing of yours to undo",
        "the last change to this document's fields is not yours, or there is none: nothing is undone",
    ),
}


UNREADABLE_BODY = "There was an error parsing the body"
"""The framework's message if parsing a JSON body failed for another reason than its syntax."""


UNREADABLE_FORM = "Invalid multipart data."


def faults(error: RequestValidationError, content_type: str) -> Iterator[InputProblem]:
    """Yield each problem with path and message, as for all refused input."""
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if part != "body"]
        if fault["type"] == "json_invalid":
            yield InputProblem("body", f"is not JSON: {fault['ctx']['error']} at character {fault['loc'][-1]}")
        elif not location and not content_type.partition(";")[0].endswith("json"):
            header = "with the header Content-Type: application/json"
            yield InputProblem("body", f"must be JSON {header}, found {content_type[:100] or 'none'}")
        else:
            yield InputProblem(".".join(location) or "body", _message(fault))


def unreadable_body(refused: HTTPException) -> str | None:
    """Return what is wrong with an unreadable body; None if the refusal has another reason."""
    match refused.__cause__:
        case RecursionError():
            return "is nested too deeply to be read"
        case UnicodeDecodeError():
            return "is not UTF-8"
        case ValueError() as error if refused.detail == UNREADABLE_BODY:
            return f"contains a number that is too long: {error}"
    if refused.detail == UNREADABLE_BODY:
        return "cannot be read"
    if refused.detail == UNREADABLE_FORM:
        cause = refused.__context__.__cause__ if refused.__context__ else None
        return f"is not a readable form: {cause or refused.detail}"
    return None


def _message(fault: Any) -> str:
    match fault["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "is not known here"
        case "value_error" if "UploadFile" in fault["msg"]:
            return "must be a file: a part of the form that has a file name"
        case kind:
            return f"{wording(kind, fault.get('ctx', {}), fault['msg'])[1]}, found {describe(fault['input'])}"
