"""Refuse a body that has very many problems without describing all of them.

Pydantic finds a hundred thousand problems in milliseconds, but the framework describes them on the event loop, which
takes seconds. So a large body is validated once before that.
"""

import asyncio
from functools import cache
from itertools import islice
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from pydantic import TypeAdapter, ValidationError

from docrail.api.body_sizes import CHEAP_BYTES
from docrail.api.errors import faults
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.services.errors import MOST_PROBLEMS, InvalidInput

MOST_DESCRIBED = 4 * MOST_PROBLEMS
"""Problems that are all described, though an answer lists fewer."""
KEPT = 7
"""Parts of a large object or list that are looked at once a body has more problems."""


async def few_problems(request: Request) -> None:
    """Refuse a large body with very many problems, listing the first. Raises: InvalidInput."""
    field = request.scope["route"].body_field
    if field is None or isinstance(field.field_info, Form) or len(await request.body()) <= CHEAP_BYTES:
        return
    try:
        body = await request.json()  # the framework has read it already, and keeps it
    except (ValueError, RecursionError):
        return  # it is of another content type, which is refused later
    # in a thread: parsing took a while, and validators in Python let others go on
    if refused := await asyncio.to_thread(_refusal, body, field.field_info.annotation):
        raise refused


def _refusal(body: Json, wanted: Any) -> InvalidInput | None:
    count = _count(body, wanted)
    if not count:
        return None
    first = _first(body, wanted)
    return InvalidInput(first, count - len(first))


def _count(body: Json, wanted: Any) -> int:
    """Return the number of problems if it is too large to describe them all, else 0."""
    try:
        _adapter(wanted).validate_python(body)
    except ValidationError as error:
        return count if (count := error.error_count()) > MOST_DESCRIBED else 0
    return 0


def _first(body: Json, wanted: Any) -> list[InputProblem]:
    """Return some problems of a body that has very many: those of the first parts of its large objects and lists."""
    if isinstance(body, dict) and len(body) > MOST_PROBLEMS:
        return [InputProblem("body", f"has {len(body)} fields, which are more than any request has")]
    try:
        _adapter(wanted).validate_python(_cut(body))
    except ValidationError as error:
        if error.error_count() <= MOST_DESCRIBED:
            return [*islice(faults(RequestValidationError(error.errors())), MOST_PROBLEMS)]
    return [InputProblem("body", "has too many problems to list them: its parts are not those of this request")]


@cache
def _adapter(wanted: Any) -> TypeAdapter[Any]:
    return TypeAdapter(wanted)


def _cut(value: Json) -> Json:
    """Return a copy in which large objects and lists have their first parts only."""
    match value:
        case dict():
            return {key: _cut(part) for key, part in islice(value.items(), _kept(value))}
        case list():
            return [_cut(part) for part in islice(value, _kept(value))]
        case _:
            return value


def _kept(value: dict[str, Json] | list[Json]) -> int:
    return KEPT if len(value) > MOST_PROBLEMS else len(value)
