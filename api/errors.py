"""Which status code each refusal has, and how it leaves: problem+json (RFC 9457). No other module knows a status."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from typing import cast

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from dag.values import Json
from operations.errors import (
    Forbidden,
    InvalidDefinition,
    InvalidInput,
    KeyConflict,
    NotFound,
    OperationError,
    TooLarge,
    Unavailable,
    WrongState,
)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "2"
"""Told to callers of a service that is away: ours reconnect within about a second of its return."""

log = logging.getLogger(__name__)


class BodyTooLargeError(HTTPException):
    """Ends the reading of a body. An HTTPException, because the framework takes all else for a malformed body."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.limit_bytes = limit_bytes


class ProblemOut(BaseModel):
    """Why a request was refused (RFC 9457). `type` is stable: programs decide by it, people read `detail`."""

    type: str = Field(examples=["/problems/not-found"])
    title: str
    status: int
    detail: str
    problems: list[dict[str, Json]] | None = Field(
        default=None,
        description="each thing that is wrong: path, message, suggestion; for definitions code, line, column",
    )
    state: str | None = Field(default=None, description="the state that refused")
    differences: list[str] | None = Field(default=None, description="what differs from the first request with this key")
    limit_bytes: int | None = None
    scope: str | None = Field(default=None, description="the scope that is missing")
    service: str | None = Field(default=None, description="what does not answer")


@dataclass(frozen=True, slots=True)
class Kind:
    """One `type` of problem. `fields` are the error's fields that are told beside the text."""

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
    InvalidDefinition: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-definition",
        "The definition is not valid",
        "the definition has 2 problems",
        ("problems",),
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
        "Too many bytes",
        "larger than the limit of 26214400 bytes",
        ("limit_bytes",),
    ),
    Unavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "A service is away",
        "worker is not available: no worker answered in time",
        ("service",),
    ),
}

EVERYWHERE = (Forbidden, InvalidInput, Unavailable)
SCHEMA = f"#/components/schemas/{ProblemOut.__name__}"

_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
)
"""What a PostgreSQL that stops, starts or is full raises, and a blob store whose disk is."""


def problems(*errors: type[OperationError]) -> dict[int | str, dict[str, Json]]:
    """Return the OpenAPI `responses` of a route that may be refused so; every route may be for EVERYWHERE."""
    documented: dict[int | str, dict[str, Json]] = {}
    for kind in (KINDS[error] for error in dict.fromkeys((*errors, *EVERYWHERE))):
        content = {MEDIA_TYPE: {"schema": {"$ref": SCHEMA}, "examples": {}}}
        response = documented.setdefault(int(kind.status), {"description": kind.title, "content": content})
        response["content"][MEDIA_TYPE]["examples"][kind.name] = {
            "summary": kind.title,
            "value": _body(kind.name, kind.title, kind.status, kind.example),
        }
    return documented


def register(app: FastAPI) -> None:
    """Make every error of `app` leave as problem+json."""
    for error in KINDS:
        app.add_exception_handler(error, _refused)
    for away in _AWAY:
        app.add_exception_handler(away, _unavailable)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(BodyTooLargeError, _too_large)
    app.add_exception_handler(asyncpg.DataError, _failed)  # an InterfaceError too, but a bug: no service is away
    app.add_exception_handler(Exception, _failed)
    app.openapi = partial(_openapi, app.openapi)  # type: ignore[method-assign] # the framework's documented way


def refusal(error: OperationError) -> JSONResponse:
    """Return the answer that `error` is."""
    kind = KINDS[type(error)]
    more = {name: _plain(getattr(error, name)) for name in kind.fields}
    headers = {"Retry-After": RETRY_AFTER_SECONDS} if kind.status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return _answer(_body(kind.name, kind.title, kind.status, str(error), **more), headers)


def _openapi(generate: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Add the schema that `problems` refers to: the framework would offer it as plain application/json too."""
    document = generate()
    document["components"]["schemas"].setdefault(ProblemOut.__name__, ProblemOut.model_json_schema())
    return document


async def _refused(_: Request, error: Exception) -> JSONResponse:
    return refusal(cast("OperationError", error))


async def _unavailable(_: Request, error: Exception) -> JSONResponse:
    log.warning("storage is away: %r", error)
    return refusal(Unavailable("storage", type(error).__name__))


async def _misshapen(_: Request, error: Exception) -> JSONResponse:
    kind = KINDS[InvalidInput]
    found = list(_field_problems(cast("RequestValidationError", error)))
    detail = "; ".join(f"{problem['path']}: {problem['message']}" for problem in found)
    return _answer(_body(kind.name, kind.title, kind.status, detail, problems=found))


def _field_problems(error: RequestValidationError) -> Iterator[dict[str, Json]]:
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if part != "body"]
        yield {"path": ".".join(location) or "body", "message": fault["msg"], "suggestion": None}


async def _http(_: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: an unknown path, a wrong method, a body that is no form."""
    refused = cast("HTTPException", error)
    status = HTTPStatus(refused.status_code)
    name = status.phrase.lower().replace(" ", "-")
    return _answer(_body(name, status.phrase, status, str(refused.detail)), refused.headers)


async def _too_large(_: Request, error: Exception) -> JSONResponse:
    return refusal(TooLarge(cast("BodyTooLargeError", error).limit_bytes))


async def _failed(request: Request, error: Exception) -> JSONResponse:
    """Answer a bug without telling its insides; the log has them."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _answer(_body("internal", "Something is broken here", status, "the error is in the server's log"))


def _body(name: str, title: str, status: HTTPStatus, detail: str, **more: Json) -> dict[str, Json]:
    return {"type": f"/problems/{name}", "title": title, "status": int(status), "detail": detail, **more}


def _answer(body: dict[str, Json], headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body, body["status"], headers, MEDIA_TYPE)


def _plain(value: Json) -> Json:
    """Return an error's field as JSON: its problems are dataclasses."""
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else asdict(item) for item in value]
    return value
