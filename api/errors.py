"""Translate refusals and invalid requests into problem+json responses (RFC 9457).

Each refusal has its status, `type` and fields in `KINDS`; no other module knows a status. Requests that the framework
cannot parse are described in words: what was found, what was expected.

In one file because a refusal's status, its fields and its OpenAPI documentation must agree.
"""

import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import Any, cast

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from docrail.adapters.temporal.codec import PayloadKeyError
from docrail.api.body_sizes import MOST_BYTES, most_bytes, upload_setting
from docrail.api.methods import allowed_methods
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json, canonical, shortened, size_of
from docrail.dag.values.wording import describe, wording
from docrail.services.errors import (
    LONGEST_ID,
    MOST_PROBLEMS,
    AlreadyAnswered,
    AlreadyDecided,
    AmbiguousValue,
    Busy,
    CallbackOver,
    ClaimedByOther,
    ClaimLost,
    CrossSite,
    Damaged,
    DecisionOutdated,
    FailedTests,
    Forbidden,
    InvalidDefinition,
    InvalidInput,
    InvalidRouting,
    KeyConflict,
    LinesOutdated,
    MayNotDecide,
    NotAdmitted,
    NotFound,
    NothingReadable,
    NothingToTakeBack,
    NothingToUndo,
    OperationError,
    Outdated,
    PlaceTaken,
    QuotaExceeded,
    TooCostly,
    TooLarge,
    TooManyValues,
    Unauthenticated,
    Unavailable,
    UnknownHost,
    UnsafeArchive,
    UnsupportedType,
    WrongState,
)
from docrail.services.storage_problems import storage_problem

MEDIA_TYPE = "application/problem+json"
JSON_TYPE = "application/json"
FORM_TYPE = "multipart/form-data"


HEADERS: Mapping[HTTPStatus, Mapping[str, str]] = {
    # clients here reconnect within about a second of a service's return
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "2"},
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": 'Bearer realm="docrail"'},
}


SAFE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Sent with every answer that has none of its own: no page of another site may read, embed or frame it."""


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


EVERYWHERE = (Unauthenticated, Forbidden, QuotaExceeded, InvalidInput, Unavailable)
OF_CALLERS = (Unauthenticated, Forbidden, QuotaExceeded)
"""Refusals of routes that require a caller."""


class ProblemOut(BaseModel):
    """Why a request was refused (RFC 9457). `type` is stable and for programs; `detail` is for people."""

    type: str = Field(examples=["/problems/not-found"])
    title: str
    status: int
    detail: str
    problems: list[dict[str, Json]] | None = Field(
        default=None,
        description="the first 50 problems: path, message, suggestion, code; for definitions also line, column; "
        "for tests the test, the expected and the found value",
    )
    more: int | None = Field(default=None, description="how many more problems there are")
    state: str | None = Field(default=None, description="the state that refused")
    differences: list[str] | None = Field(default=None, description="what differs from the first request with this key")
    limit_bytes: int | None = None
    limit_values: int | None = None
    current: int | None = Field(default=None, description="the current revision")
    claimed_by: str | None = Field(default=None, description="the person who has claimed the item")
    digest: str | None = Field(default=None, description="of what the item shows now")
    decided_by: str | None = Field(default=None, description="the person who decided first")
    decision: Json = Field(default=None, description="the first decision")
    where: str | None = Field(default=None, description="the part of the request with two readings")
    readings: list[str] | None = Field(default=None, description="its readings, in the field's format")
    lines_version: str | None = Field(default=None, description="of the current line items")
    scope: str | None = Field(default=None, description="the missing scope")
    quota: str | None = Field(default=None, description="the quota that is used up")
    limit: float | None = Field(default=None, description="its value")
    service: str | None = Field(default=None, description="the service that does not answer")


CALLBACKS_PATH = "/v1/callbacks/"
"""Paths whose secret is in the URL: they are called without a key, by any site."""

SCHEMA = f"#/components/schemas/{ProblemOut.__name__}"


UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the server was killed between two messages of a statement
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
    return _responses(*errors, *(error for error in EVERYWHERE if error not in OF_CALLERS))


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
    for cause in UNAVAILABLE:
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
    more = _fields(error, kind.fields)
    headers = _of_quota(error) if isinstance(error, QuotaExceeded) else HEADERS.get(kind.status)
    return _answer(_body(kind.name, kind.title, kind.status, str(error), **more), headers)


def unavailable(error: Exception) -> JSONResponse:
    """Return the response for one of the errors UNAVAILABLE."""
    log.warning("storage is unavailable: %r", error)
    return refusal(Unavailable("storage", storage_problem(error)))


def _of_quota(error: QuotaExceeded) -> dict[str, str]:
    """Return when to try again, also as the IETF's draft on rate limits has it."""
    seconds = max(math.ceil(error.retry_after_seconds), 1)
    return {
        "Retry-After": str(seconds),
        "RateLimit": f'"{error.quota}";r=0;t={seconds}',
        "RateLimit-Policy": f'"{error.quota}";q={error.limit:.0f}',
    }


def _fields(error: OperationError, names: Sequence[str]) -> dict[str, Json]:
    """Return the error's fields as JSON: of its problems the first, and the number of the others."""
    found: dict[str, Json] = {name: getattr(error, name) for name in names}
    if "problems" in found:
        problems = found["problems"]
        more = len(problems) - MOST_PROBLEMS + getattr(error, "more", 0)
        found |= {"problems": [_problem(each) for each in problems[:MOST_PROBLEMS]]}
        found |= {"more": more} if more > 0 else {}
    return found


def _openapi(generate: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Add what applies to all routes: refusals by host, site, size and media type, and the schema of problems.

    The framework would also document the schema as plain application/json.
    """
    document = generate()
    document["components"]["schemas"].setdefault(ProblemOut.__name__, ProblemOut.model_json_schema())
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            _document(operation["responses"], UnknownHost)
            if method != "get" and not path.startswith(CALLBACKS_PATH):
                _document(operation["responses"], CrossSite)
            if "requestBody" in operation:
                _document(operation["responses"], TooLarge, UnsupportedType, *_of_size(path))
                operation["responses"]["413"]["description"] = _size_of(path)
    return document


def _document(responses: dict[str, Any], *errors: type[OperationError]) -> None:
    """Add refusals to an operation's responses, next to the others of the same status."""
    for status, response in _responses(*errors).items():
        known = responses.setdefault(str(status), response)
        known["content"][MEDIA_TYPE]["examples"] |= response["content"][MEDIA_TYPE]["examples"]


def _of_size(path: str) -> tuple[type[OperationError], ...]:
    """Return the refusals of routes that take much."""
    if path in MOST_BYTES:
        return TooManyValues, TooCostly, Busy
    return () if upload_setting(path) is None else (Busy,)


def _size_of(path: str) -> str:
    if (setting := upload_setting(path)) is not None:
        return f"Larger than the setting `{setting}`"
    values = ", or more than 50,000 JSON values" if path in MOST_BYTES else ""
    return f"Larger than {most_bytes(path)} bytes{values}"


async def _refused(_: Request, error: Exception) -> JSONResponse:
    return refusal(cast("OperationError", error))


async def _unavailable(_: Request, error: Exception) -> JSONResponse:
    return unavailable(error)


async def _unreadable(_: Request, error: Exception) -> JSONResponse:
    log.warning("cannot read from Temporal: %s", error)
    return refusal(Unavailable("Temporal", str(error)))


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    invalid, media_type = cast("RequestValidationError", error), request.headers.get("content-type", "")
    match invalid.body:
        case bytes() as unread if unread:
            return refusal(UnsupportedType(media_type, JSON_TYPE))
        case FormData() if media_type and not media_type.lower().startswith(FORM_TYPE):
            return refusal(UnsupportedType(media_type, FORM_TYPE))
    found = [*islice(faults(invalid), MOST_PROBLEMS)]
    return refusal(InvalidInput(found, len(invalid.errors()) - len(found)))


async def _http(request: Request, error: Exception) -> Response:
    """Answer the framework's refusals: an unknown path, a wrong method, a body that it cannot read."""
    refused = cast("HTTPException", error)
    match refused.status_code:
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return _wrong_method(request)
        case HTTPStatus.NOT_FOUND:
            kind = KINDS[NotFound]
            detail = f"there is no path {shortened(request.scope['path'], LONGEST_ID)!r}: /docs lists all"
            return _answer(_body(kind.name, kind.title, kind.status, detail))
    found = unreadable_body(refused) or str(refused.detail)
    return refusal(InvalidInput([InputProblem("body", found)]))


def _wrong_method(request: Request) -> Response:
    headers = {"Allow": ", ".join(allowed_methods(request.app.routes, request.scope))}
    if request.method == "OPTIONS":
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)
    detail = f"this path has {headers['Allow']}, found {request.method[:20]}"
    return _answer(_body(WRONG_METHOD.name, WRONG_METHOD.title, WRONG_METHOD.status, detail), headers)


async def _too_large(_: Request, error: Exception) -> JSONResponse:
    return refusal(TooLarge(cast("BodyTooLargeError", error).limit_bytes))


async def _failed(request: Request, error: Exception) -> JSONResponse:
    """Answer a bug without exposing its details, which are in the log."""
    token = str(request.path_params.get("token", ""))  # of a callback URL
    path = request.url.path.replace(token, "{token}") if token else request.url.path
    log.error("%s %s failed", request.method, path, exc_info=error)
    return _answer(plain_body(BUG), SAFE_HEADERS)  # answered outside all middleware


def _body(name: str, title: str, status: HTTPStatus, detail: str, **more: Json) -> dict[str, Json]:
    return {"type": f"/problems/{name}", "title": title, "status": int(status), "detail": detail, **more}


def _answer(body: dict[str, Json], headers: Mapping[str, str] | None = None) -> JSONResponse:
    return _ProblemResponse(body, body["status"], headers, MEDIA_TYPE)


def _problem(problem: Any) -> dict[str, Json]:
    """Return a problem as JSON, each value of it shortened."""
    return {name: _short(value) for name, value in asdict(problem).items()}


def _short(value: Json) -> Json:
    if isinstance(value, str):
        return shortened(value)
    return value if size_of(value) <= LONGEST_MESSAGE else shortened(canonical(value))


@dataclass(frozen=True, slots=True)
class Kind:
    """One `type` of problem. `fields`: the error's fields included in the response."""

    status: HTTPStatus
    name: str
    title: str
    example: str
    fields: tuple[str, ...] = ()
    advice: str = field(kw_only=True)
    """What the caller can do."""


KINDS: Mapping[type[OperationError], Kind] = {
    NotFound: Kind(
        HTTPStatus.NOT_FOUND,
        "not-found",
        "Not found",
        "there is no run 'invoice.4711'",
        advice="Check the id: lists show those of your tenant, and its owner may see more than you.",
    ),
    Unauthenticated: Kind(
        HTTPStatus.UNAUTHORIZED,
        "unauthenticated",
        "Not authenticated",
        "the API key is not valid: create one with ...",
        advice="Send `Authorization: Bearer` with a valid API key or token, or sign in again.",
    ),
    Forbidden: Kind(
        HTTPStatus.FORBIDDEN,
        "forbidden",
        "Not allowed",
        "this needs the scope 'operate'",
        ("scope",),
        advice="Use a key with the scope in `scope`, or ask an administrator of your tenant for it.",
    ),
    AmbiguousValue: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "ambiguous-value",
        "The text has two readings",
        "text: '1.234' can be read as 1234 or 1.234: choose one",
        ("where", "readings"),
        advice="Choose one of `readings` and send it.",
    ),
    LinesOutdated: Kind(
        HTTPStatus.CONFLICT,
        "lines-outdated",
        "The line items have changed",
        "the line items have changed since they were read: load them again",
        ("lines_version",),
        advice="Load the line items again, apply your change to them, and send their new version.",
    ),
    QuotaExceeded: Kind(
        HTTPStatus.TOO_MANY_REQUESTS,
        "quota-exceeded",
        "Quota exceeded",
        "the tenant may have 1000 documents per day: try again later, or ask the operator",
        ("quota", "limit"),
        advice="Wait for the seconds in `Retry-After`, then send it again; the operator can raise the quota.",
    ),
    KeyConflict: Kind(
        HTTPStatus.CONFLICT,
        "key-conflict",
        "The idempotency key belongs to another request",
        "the key '4711' was used before with another request; different: inputs.amount",
        ("differences",),
        advice="Send a new request with a new key; repeat a request with exactly the same content.",
    ),
    WrongState: Kind(
        HTTPStatus.CONFLICT,
        "wrong-state",
        "Not in this state",
        "cannot resume: the run is completed",
        ("state",),
        advice="Read the object again and choose an action that its state allows; `detail` names one if there is one.",
    ),
    AlreadyDecided: Kind(
        HTTPStatus.CONFLICT,
        "already-decided",
        "Already decided",
        "ann has already decided this, and the first decision counts",
        ("decided_by", "decision"),
        advice="Accept the first decision, or reopen the document.",
    ),
    MayNotDecide: Kind(
        HTTPStatus.FORBIDDEN,
        "may-not-decide",
        "Not allowed to decide",
        "ann started the run, and ...",
        advice="Ask a person whom the step accepts; `detail` says why you are not one of them.",
    ),
    AlreadyAnswered: Kind(
        HTTPStatus.CONFLICT,
        "already-answered",
        "Already answered",
        "this has already been answered differently, and the first answer counts",
        advice="Accept the first answer; it cannot be changed.",
    ),
    CallbackOver: Kind(
        HTTPStatus.GONE,
        "callback-over",
        "Callback URL no longer valid",
        "this callback URL is no longer valid: its step is no longer waiting",
        advice="Use the URL of a newer message: a new run sends one.",
    ),
    InvalidDefinition: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-definition",
        "The definition is not valid",
        "the definition has 2 problems",
        ("problems",),
        advice="Correct the places in `problems`; `docrail validate` shows them in the file.",
    ),
    FailedTests: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "failed-tests",
        "Tests of the definition failed",
        "1 of the definition's 3 tests failed",
        ("problems",),
        advice="Correct the definition or its tests: `problems` has what each test expected and found.",
    ),
    InvalidRouting: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-routing",
        "The routing rules are not valid",
        "the routing rules have 2 problems",
        ("problems",),
        advice="Correct the places in `problems`.",
    ),
    NothingToUndo: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-undo",
        "Nothing to undo",
        "the alias 'stable' of 'invoice' has never named another version: ...",
        advice="Move the alias to a version explicitly.",
    ),
    Outdated: Kind(
        HTTPStatus.CONFLICT,
        "outdated",
        "Changed by someone else meanwhile",
        "the routing rules changed meanwhile: you read revision 3, expected the current one, 4",
        ("current",),
        advice="Read the object again, apply your change to it, and send its `current` revision or version.",
    ),
    Damaged: Kind(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "damaged",
        "The stored definition is damaged",
        "version 3 of the definition 'invoice' is not what was published: ...; restore the row from a backup",
        advice="Restore the row from a backup, or publish the definition as a new version.",
    ),
    InvalidInput: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-input",
        "The request is not valid",
        "inputs.document_id: is required",
        ("problems",),
        advice="Correct the values in `problems`; each has its path and what was expected.",
    ),
    PlaceTaken: Kind(
        HTTPStatus.CONFLICT,
        "place-taken",
        "Another content is at this place",
        "the batch has another content at 'november/4711.pdf', so the file has changed: send it under another place",
        advice="The file has changed since it was sent: send it under another place, or in another batch.",
    ),
    UnsafeArchive: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "unsafe-archive",
        "The zip file is not unpacked",
        "../invoice.pdf: is outside of the folder: names must be relative, without `..`",
        ("problems",),
        advice="Pack the folder again without the files in `problems`, or send several zip files.",
    ),
    NothingReadable: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "nothing-readable",
        "There is no document in it",
        "there is no document in it: the zip file has no files",
        advice="Check that the folder or the zip file is the one that you meant.",
    ),
    TooLarge: Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too-large",
        "Body too large",
        "larger than the limit of 26214400 bytes",
        ("limit_bytes",),
        advice="Send at most `limit_bytes` bytes; the operator sets the limits of uploads and tenants.",
    ),
    NotAdmitted: Kind(
        HTTPStatus.FORBIDDEN,
        "not-admitted",
        "Signed in, but without access",
        "you are signed in at the identity provider, but may not use Docrail: ask its operator",
        advice="Ask the operator of Docrail for access; the reason is in the server's log.",
    ),
    UnsupportedType: Kind(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported-media-type",
        "Media type not supported",
        "the body must be application/json, found text/plain",
        advice="Send the body in the media type that `detail` names, with that `Content-Type`.",
    ),
    UnknownHost: Kind(
        HTTPStatus.MISDIRECTED_REQUEST,
        "unknown-host",
        "Not known by this name",
        "this server is not known as 'evil.example': ...",
        advice="Use one of the server's own names, or have the operator add this one to `DOCRAIL_API_HOSTS`.",
    ),
    CrossSite: Kind(
        HTTPStatus.FORBIDDEN,
        "cross-site",
        "Sent by a page of another site",
        "pages of other sites may not change anything here, found 'Origin: http://evil.example': ...",
        advice="Call it from a server or a page of its own; if a proxy changes the host, set `DOCRAIL_PUBLIC_URL`.",
    ),
    TooManyValues: Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too-many-values",
        "Too many JSON values",
        "the body has more JSON values than the limit of 50000",
        ("limit_values",),
        advice="Send at most `limit_values` JSON values at once.",
    ),
    TooCostly: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "too-costly",
        "Takes too long to check",
        "checking this was stopped after 15 seconds of work, or because it takes too much memory: ...",
        advice="Send less at once; run long tests of definitions with `docrail test`.",
    ),
    Busy: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "busy",
        "Too many large requests",
        "too many large requests are handled at present: send this one again later",
        advice="Wait for the seconds in `Retry-After`, then send it again.",
    ),
    Unavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "Service unavailable",
        "worker is not available: no worker answered in time",
        ("service",),
        advice="Wait for the seconds in `Retry-After`, then send it again; if it stays, look at that service.",
    ),
    ClaimedByOther: Kind(
        HTTPStatus.CONFLICT,
        "claimed",
        "Claimed by someone else",
        "ann has claimed this item: ...",
        ("claimed_by",),
        advice="Claim another item, or ask the person in `claimed_by` to release it.",
    ),
    ClaimLost: Kind(
        HTTPStatus.CONFLICT,
        "claim-lost",
        "Claim no longer valid",
        "this needs the token of a valid claim of yours, but ...",
        ("claimed_by",),
        advice="Claim the item again and send the new token.",
    ),
    DecisionOutdated: Kind(
        HTTPStatus.CONFLICT,
        "decision-outdated",
        "Changed since it was shown",
        "the document's fields or problems have changed since it was shown: load it again",
        ("digest",),
        advice="Load the document again, look at what changed, and decide with the new digest.",
    ),
    NothingToTakeBack: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-take-back",
        "Nothing of yours to undo",
        "the last change to this document's fields is not yours, or there is none: nothing is undone",
        advice="Change the field again instead: only your own last change can be undone.",
    ),
}


WRONG_METHOD = Kind(
    HTTPStatus.METHOD_NOT_ALLOWED,
    "method-not-allowed",
    "Method not allowed",
    "this path has GET, HEAD, OPTIONS, ...",
    advice="Use one of the methods in the header `Allow`.",
)
BUG = Kind(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "internal",
    "Internal error",
    "the error is in the server's log",
    advice="This is a bug: report it with the lines of the server's log. The request may be repeated.",
)
TOO_SLOW = Kind(
    HTTPStatus.REQUEST_TIMEOUT,
    "request-timeout",
    "Request too slow",
    "the request did not arrive in time: send it again, faster",
    advice="Send it again on a faster connection.",
)
MALFORMED = Kind(
    HTTPStatus.BAD_REQUEST,
    "malformed-request",
    "Not an HTTP request",
    "what arrived is not an HTTP/1.1 request: this port serves HTTP, or HTTPS if it has a certificate",
    advice="Speak HTTP/1.1 to this port, or HTTPS if it has a certificate.",
)
OF_SERVER = (WRONG_METHOD, BUG, TOO_SLOW, MALFORMED)
"""Problems of any request, which no service knows."""


def plain_body(kind: Kind) -> dict[str, Json]:
    """Return the body of a problem without details of its own."""
    return _body(kind.name, kind.title, kind.status, kind.example)


UNREADABLE_BODY = "There was an error parsing the body"
"""The framework's message if parsing a JSON body failed for another reason than its syntax."""


UNREADABLE_FORM = "Invalid multipart data."


def faults(error: RequestValidationError) -> Iterator[InputProblem]:
    """Yield each problem with path and message, as for all refused input."""
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if part != "body"]
        if fault["type"] == "json_invalid":
            yield InputProblem("body", f"is not JSON: {fault['ctx']['error']} at character {fault['loc'][-1]}")
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
