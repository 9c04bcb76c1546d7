"""Define parameters that several routes share: the app, pages of a list, an idempotency key, times."""

import asyncio
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any, cast

from fastapi import Depends, Form, Header, Query, Request, params
from fastapi.dependencies.utils import get_flat_params
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from docrail.api.body_sizes import CHEAP_BYTES
from docrail.api.errors import FORM_TYPE
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.source.source import read_source
from docrail.dag.values.json_values import Json, RepeatedKeyError, pairs_once, shortened, strict_json
from docrail.dag.values.suggestions import closest
from docrail.services.app import App
from docrail.services.errors import MOST_PROBLEMS, InvalidInput
from docrail.services.runs.service import KEY_PATTERN

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


async def app_of(request: Request) -> App:
    """Return the open resources created at startup. Costly checks end when this caller leaves."""
    app = cast("App", request.app.state.app)
    return replace(app, processes=app.processes and app.processes.until(partial(_left, request)))


async def _left(request: Request) -> None:
    """Return when the caller has closed the connection. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


AppDep = Annotated[App, Depends(app_of)]
Limit = Annotated[int, Query(ge=1, le=500, description="most items on the page")]
SearchWords = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
After = Annotated[
    str | None, Query(max_length=4096, description="the `after` of the previous page; without it, the first page")
]
OpenGroups = Annotated[
    str | None,
    Query(
        max_length=4096,
        pattern=r"^([0-9]{1,9}-[0-9]{1,9}(,[0-9]{1,9}-[0-9]{1,9})*)?$",
        description="the groups of steps to open, separated by commas; the last ones are opened first",
    ),
]
"""Groups that the plan does not have are ignored: the version may have changed."""


def groups_of(opened: str | None) -> list[str]:
    """Return the ids of the groups in the parameter `OpenGroups`."""
    return [group for group in (opened or "").split(",") if group]


MOST = 2**53
"""Largest whole number in JSON that every reader takes exactly; PostgreSQL's and Temporal's have 64 bits."""

Reason = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the action")]


async def only_known(request: Request) -> None:
    """Refuse unknown and repeated query parameters: a parameter that is silently ignored is worse than an error.

    Raises: InvalidInput.
    """
    known = [field.alias for field in get_flat_params(request.scope["route"].dependant) if _is_query(field)]
    _check_names(Counter(name for name, _ in request.query_params.multi_items()), known, "parameter")


async def only_known_parts(request: Request) -> None:
    """Refuse unknown and repeated parts of a form, for the same reason. Raises: InvalidInput."""
    form = await request.form()  # cached: it was already read for the route's arguments
    known = [field.alias for field in request.scope["route"].dependant.body_params]
    _check_names(Counter(name for name, _ in form.multi_items()), known, "part of the form")


def _check_names(given: Mapping[str, int], known: Sequence[str], what: str) -> None:
    """Refuse names that are unknown, or given several times. Raises: InvalidInput."""
    wrong = sum(name not in known or count > 1 for name, count in given.items())
    if problems := [*islice(chain(_unknown(given, known, what), _repeated(given, what)), MOST_PROBLEMS)]:
        raise InvalidInput(problems, max(0, wrong - len(problems)))


async def no_repeated_keys(request: Request) -> None:
    """Refuse a JSON body in which an object has a key twice: readers differ in which value counts.

    Raises: InvalidInput.
    """
    if request.headers.get("content-type", "").lower().startswith(FORM_TYPE):
        return  # read as a stream
    body = await request.body()
    try:
        if len(body) <= CHEAP_BYTES:
            json.loads(body, object_pairs_hook=pairs_once)
        else:  # in a thread: the hook is called for each object
            await asyncio.to_thread(json.loads, body, object_pairs_hook=pairs_once)
    except RepeatedKeyError as error:
        problems = [*_repeated_keys(body)] or [InputProblem("body", str(error))]
        raise InvalidInput(problems) from None
    except (ValueError, RecursionError):
        return  # not JSON: the route refuses it, if it takes a body


def _repeated_keys(body: bytes) -> Iterator[InputProblem]:
    """Yield the repeated keys of a small body with their places; finding them in a large one would take seconds."""
    for problem in read_source(body).problems if len(body) <= CHEAP_BYTES else ():
        if problem.code == "duplicate-key":
            yield InputProblem(problem.path, f"{problem.message}, and again on line {problem.line}")


def _is_query(field: Any) -> bool:
    return isinstance(field.field_info, params.Query)


def _unknown(given: Iterable[str], known: Sequence[str], what: str) -> Iterator[InputProblem]:
    for name in given:
        if name not in known:
            yield InputProblem(shortened(name, 100), f"this request has no such {what}", closest(name, known))


def _repeated(given: Mapping[str, int], what: str) -> Iterator[InputProblem]:
    for name, count in given.items():
        if count > 1:
            yield InputProblem(shortened(name, 100), f"is given {count} times, expected one {what} of that name")


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        json_schema_extra={"pattern": KEY_PATTERN},
        description="the same key returns the same run or document, however often it is sent",
        examples=["order-4711"],
    ),
]


AN_OBJECT = '{"cost_centre": "4711"}'
InputsPart = Annotated[
    str | None,
    Form(
        description="values for the definition's inputs, as a JSON object; the document provides `document_id` and "
        "`sla_hours` itself",
        examples=[AN_OBJECT],
        json_schema_extra={"contentMediaType": "application/json"},
    ),
]


def inputs_of_part(text: str | None) -> dict[str, Json]:
    """Return the values in a form's part `inputs`; none without it. Raises: InvalidInput."""
    if not text:
        return {}
    try:
        found = strict_json(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) or "nested too deep"
        raise InvalidInput([InputProblem("inputs", f"is not JSON ({reason}), expected {AN_OBJECT}")]) from None
    if not isinstance(found, dict):
        raise InvalidInput([InputProblem("inputs", f"must be a JSON object, such as {AN_OBJECT}")])
    return found


def one_key(header: str | None, body: str | None) -> str | None:
    """Return the key given in either place. Raises: InvalidInput if both are given and differ."""
    if header is not None and body is not None and header != body:
        raise InvalidInput([InputProblem("key", "differs from the header Idempotency-Key")])
    return body if header is None else header


def as_utc(time: dt.datetime | None) -> dt.datetime | None:
    """Return a time without a zone as UTC; other times unchanged."""
    return time.replace(tzinfo=dt.UTC) if time is not None and time.tzinfo is None else time


def written(value: Json) -> Json:
    """Refuse numbers, also as text: seconds and milliseconds since the epoch cannot be distinguished."""
    if not isinstance(value, str) or not _DATE.match(value):
        raise PydanticCustomError("moment", "must be a date and time with its zone, as in 2026-11-30T12:00:00Z")
    return value


def in_calendar(time: dt.datetime) -> dt.datetime:
    """Refuse a time outside the years 1 to 9999 in UTC."""
    try:
        time.astimezone(dt.UTC)
    except OverflowError:
        raise PydanticCustomError("moment", "must be in a year from 1 to 9999 in UTC") from None
    return time


Time = Annotated[dt.datetime, BeforeValidator(written), AfterValidator(in_calendar)]
"""A time as text; one without a zone stays without."""
Moment = Annotated[AwareDatetime, BeforeValidator(written), AfterValidator(in_calendar)]
"""A time as text, with its zone."""
