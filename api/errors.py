"""How a refusal leaves: as problem+json (RFC 9457), with the status that `kinds` gives it."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from typing import cast

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from api.kinds import KINDS
from api.misshapen import faults, unreadable_body
from api.refusals import ProblemOut
from dag.inputs import InputProblem
from dag.values import Json
from operations.errors import Forbidden, InvalidInput, OperationError, TooLarge, Unavailable

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "2"
"""Told to callers of a service that is away: ours reconnect within about a second of its return."""

log = logging.getLogger(__name__)


class _ProblemResponse(JSONResponse):
    """Repeats what was sent, and so perhaps half a surrogate pair, which no answer can hold: a ? stands for it."""

    def render(self, content: Json) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


class BodyTooLargeError(HTTPException):
    """Ends the reading of a body. An HTTPException, because the framework takes all else for a malformed body."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.limit_bytes = limit_bytes


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
    """Return the OpenAPI `responses` of a route that may be refused so; every route may be for EVERYWHERE.

    That one with a body may be refused for the body's size is told of all of them by `register`.
    """
    return _responses(*errors, *EVERYWHERE)


def problems_without_key(*errors: type[OperationError]) -> dict[int | str, dict[str, Json]]:
    """Return the same of a route that needs no scope."""
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
    """Add what holds for all routes: a body may be too large, and the schema that `problems` refers to.

    The framework would offer the schema as plain application/json too.
    """
    document = generate()
    document["components"]["schemas"].setdefault(ProblemOut.__name__, ProblemOut.model_json_schema())
    for methods in document["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                operation["responses"] |= {str(status): told for status, told in _responses(TooLarge).items()}
    return document


async def _refused(_: Request, error: Exception) -> JSONResponse:
    return refusal(cast("OperationError", error))


async def _unavailable(_: Request, error: Exception) -> JSONResponse:
    log.warning("storage is away: %r", error)
    return refusal(Unavailable("storage", type(error).__name__))


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    content_type = request.headers.get("content-type", "")
    return refusal(InvalidInput([*faults(cast("RequestValidationError", error), content_type)]))


async def _http(_: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: an unknown path, a wrong method, a body that is no form."""
    refused = cast("HTTPException", error)
    if unreadable := unreadable_body(refused):
        return refusal(InvalidInput([InputProblem("body", unreadable)]))
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
    return _ProblemResponse(body, body["status"], headers, MEDIA_TYPE)


def _plain(value: Json) -> Json:
    """Return an error's field as JSON: its problems are dataclasses."""
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else asdict(item) for item in value]
    return value
