"""Large values and the wrapper: stored where they come out, themselves again where they go in; and the activities."""

import re
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest
from pydantic import BaseModel
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from docrail.activities.internal.values import MAX_LOADED_BYTES, value_activities
from docrail.activities.wrapper import Attempts
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.folders import local_root
from docrail.adapters.store.values import MAX_STORED_BYTES, ValueStore
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, Lack, Piece, part_of
from docrail.handlers import Handler, StepCall
from docrail.services.callback_urls import CallbackKeys, CallbackUrls
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.tools import Outside, Tools
from docrail.workflows.contract.messages import AttemptRequest, Callback, LoadCall, Loaded, StepOutcome, StoreCall
from docrail.workflows.contract.names import LOAD_STATE, LOAD_VALUES, STORE_VALUE
from tests.activities.test_execute import environment

TENANT, OTHER = "acme", "globex"
LARGE: Json = {"lines": [{"total": n, "text": "x" * 100} for n in range(1000)]}
PLACEHOLDER, PUBLIC_URL = "callback-7f3a", "https://docrail.example"


class Config(BaseModel, extra="forbid"):
    value: Json


class Output(BaseModel):
    value: Json


class Echo:
    """A handler that gives what it is given, and remembers its calls."""

    def __init__(self) -> None:
        self.calls: list[StepCall[Config]] = []

    async def run(self, call: StepCall[Config], _: Tools) -> Output:
        self.calls.append(call)
        return Output(value=call.config.value)

    @property
    def handler(self) -> Handler:
        return Handler("reported", Config, Output, self.run)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Tools without a database: nothing here asks one."""
    callbacks = CallbackUrls(PUBLIC_URL, CallbackKeys(("k" * 32,)))
    return Tools(
        cast("asyncpg.Pool", None),
        BlobStore(tmp_path / "blobs"),
        ValueStore(tmp_path / "values"),
        Lake(tmp_path / "lake"),
        DocumentReader(),
        Metrics(),
        Outside(callbacks=callbacks),
    )


def call_with(value: Json, **more: Any) -> AttemptRequest:
    call = AttemptRequest(tenant_id=TENANT, run_id="r.1", step_id="s", config={"value": value}, jitter=0)
    return call.model_copy(update=more)


async def execute(tools: Tools, call: AttemptRequest, echo: Echo | None = None) -> Json:
    """Return the output of one attempt."""
    run = Attempts((echo or Echo()).handler, tools).as_activity()
    return cast("StepOutcome", await environment(heartbeat=60).run(run, call)).output


async def refusal(tools: Tools, call: AttemptRequest) -> ApplicationError:
    with pytest.raises(ApplicationError) as raised:
        await execute(tools, call)
    return raised.value


async def load(tools: Tools, *marks: dict[str, Json], tenant_id: str = TENANT) -> tuple[Json, ...]:
    load_values = value_activities(tools)[1]
    loaded: Loaded = await ActivityEnvironment().run(load_values, LoadCall(tenant_id=tenant_id, parts=marks))
    return tuple(piece.value for piece in loaded.parts)


async def store(tools: Tools, value: Json) -> dict[str, Json]:
    store_value = value_activities(tools)[0]
    mark: dict[str, Json] = await ActivityEnvironment().run(store_value, StoreCall(tenant_id=TENANT, value=value))
    return mark


def text_of(output_bytes: int) -> str:
    """Return a text that makes the handler's output take so many bytes."""
    return "x" * (output_bytes - size_of({"value": ""}))


async def test_an_output_of_as_many_bytes_as_a_run_carries_comes_back_as_it_is(tools: Tools) -> None:
    text = text_of(MAX_INLINE_BYTES)
    assert await execute(tools, call_with(text)) == {"value": text}
    assert not local_root(tools.values.folder).exists()


async def test_a_larger_output_is_stored_and_what_stands_for_it_comes_back(tools: Tools) -> None:
    text = text_of(MAX_INLINE_BYTES + 1)
    mark = await execute(tools, call_with(text))
    part = part_of(mark)
    assert part is not None
    assert part.size == MAX_INLINE_BYTES + 1
    assert (await tools.values.get(TENANT, part.sha256)).value == {"value": text}


async def test_the_call_says_how_much_the_run_carries(tools: Tools) -> None:
    call = call_with("text", inline_bytes=15)
    assert part_of(await execute(tools, call)) is not None
    assert await execute(tools, call.model_copy(update={"inline_bytes": 16})) == {"value": "text"}


async def test_a_second_attempt_stores_the_same(tools: Tools) -> None:
    assert await execute(tools, call_with(LARGE)) == await execute(tools, call_with(LARGE))


async def test_a_handler_is_given_the_values_themselves(tools: Tools) -> None:
    part = await tools.values.put(TENANT, LARGE)
    echo = Echo()
    config = {"all": part.to_json(), "one": [part.at(("lines", 3, "total")).to_json(), "text"]}
    await execute(tools, call_with(config), echo)
    assert echo.calls[0].config.value == {"all": LARGE, "one": [3, "text"]}


async def test_the_calls_identity_does_not_tell_a_reference_from_its_value(tools: Tools) -> None:
    part = await tools.values.put(TENANT, LARGE)
    echo = Echo()
    for value in (LARGE, part.to_json()):
        await execute(tools, call_with({"b": value, "a": value}), echo)
    inline, referred = echo.calls
    assert inline.identity == referred.identity


async def test_a_part_that_is_not_there_is_named_and_not_retried(tools: Tools) -> None:
    part = (await tools.values.put(TENANT, LARGE)).at(("lines", 3, "sum"))
    reported = await refusal(tools, call_with({"amount": part.to_json()}))
    assert reported.message == "config.value.amount: `lines.3.sum`: 'lines.3' has no 'sum', it is an object"
    assert (reported.type, reported.non_retryable) == ("MissingValue", True)


async def test_a_value_whose_disk_is_away_is_tried_again(tools: Tools) -> None:
    part = await ValueStore(local_root(tools.values.folder).parent / "elsewhere").put(TENANT, LARGE)
    reported = await refusal(tools, call_with(part.to_json()))
    assert (reported.type, reported.non_retryable) == ("BlobMissing", False)


async def test_a_config_has_a_limit_with_its_stored_values(tools: Tools) -> None:
    mark = (await tools.values.put(TENANT, "x" * 1_000_000)).to_json()
    reported = await refusal(tools, call_with([mark] * (MAX_STORED_BYTES // 1_000_000 + 1)))
    assert re.search(rf"takes at least \d+ bytes as JSON, more than {MAX_STORED_BYTES}", reported.message)
    assert (reported.type, reported.non_retryable) == ("ValueTooLarge", True)


async def test_a_config_cannot_name_another_tenants_value(tools: Tools) -> None:
    theirs = await tools.values.put(OTHER, LARGE)
    assert (await refusal(tools, call_with(theirs.to_json()))).type == "BlobMissing"


async def test_data_that_looks_like_a_stored_value_is_no_output(tools: Tools) -> None:
    part = await tools.values.put(TENANT, LARGE)

    async def fetch(_call: StepCall[Config], _: Tools) -> Output:
        return Output(value={"body": [part.to_json()]})  # as in the answer of a foreign server

    with pytest.raises(ApplicationError, match=r"output\.value\.body\.0 is an object of '\$stored'") as reported:
        await environment().run(Attempts(Handler("fetch", Config, Output, fetch), tools).as_activity(), call_with(1))
    assert (reported.value.type, reported.value.non_retryable) == ("OutputHasMarkError", True)


async def test_an_output_that_resembles_a_placeholder_is_plain_data(tools: Tools) -> None:
    similar = {"$stored": "no digest", "bytes": 3}
    assert await execute(tools, call_with(similar)) == {"value": similar}


async def test_a_stored_output_holds_no_callback_url(tools: Tools) -> None:
    callback = Callback(placeholder=PLACEHOLDER, run_id="r.1", step_id="wait", timeout_seconds=60)
    config = {"link": PLACEHOLDER, "more": "x" * MAX_INLINE_BYTES}
    echo = Echo()
    part = part_of(await execute(tools, call_with(config, callbacks=(callback,)), echo))
    assert part is not None
    assert (await tools.values.get(TENANT, part.sha256)).value == {"value": config}
    again = part.at(("value", "link")).to_json()
    await execute(tools, call_with(again, callbacks=(callback,)), echo)
    assert all(f"{PUBLIC_URL}/v1/callbacks/" in str(call.config.value) for call in echo.calls)


def test_the_activities_have_the_names_that_runs_call(tools: Tools) -> None:
    names = [activity.__name__ for activity in value_activities(tools)]
    assert names == [STORE_VALUE, LOAD_VALUES, LOAD_STATE]


async def test_a_stored_value_is_loaded_whole_and_in_parts(tools: Tools) -> None:
    mark = await store(tools, LARGE)
    part = part_of(mark)
    assert part is not None
    wanted = (mark, part.at(("lines", 7, "total")).to_json(), part.at(("lines", 8)).to_json())
    assert await load(tools, *wanted) == (LARGE, 7, LARGE["lines"][8])
    assert await load(tools) == ()


async def test_stored_items_of_a_stored_list_are_loaded_with_it(tools: Tools) -> None:
    item = await store(tools, LARGE)
    mark = await store(tools, [item, {"small": 1}])
    assert await load(tools, mark) == ([LARGE, {"small": 1}],)


async def test_all_that_is_loaded_at_once_has_a_limit(tools: Tools) -> None:
    half = "x" * (MAX_LOADED_BYTES // 2 - 10)
    mark = await store(tools, half)
    assert await load(tools, mark, mark) == (half, half)
    with pytest.raises(ApplicationError) as reported:
        await load(tools, mark, mark, mark)
    assert (reported.value.type, reported.value.non_retryable) == ("ValueTooLarge", True)
    assert re.fullmatch(
        rf"with .* takes at least \d+ bytes as JSON, more than {MAX_LOADED_BYTES}: "
        "pass it whole to a handler, or use a smaller part",
        reported.value.message,
    )


async def test_a_missing_part_is_reported_with_the_others(tools: Tools) -> None:
    part = part_of(await store(tools, LARGE))
    assert part is not None
    marks = [part.at(path).to_json() for path in (("lines", 1000, "total"), ("lines", 0), ("nothing",))]
    call = LoadCall(tenant_id=TENANT, parts=tuple(marks))
    loaded: Loaded = await ActivityEnvironment().run(value_activities(tools)[1], call)
    assert loaded.parts == (
        Piece(("lines",), None, Lack.LIST),
        Piece(("lines", 0), LARGE["lines"][0]),
        Piece((), None, Lack.OBJECT),
    )


async def test_a_part_that_may_stay_is_brought_where_it_is_small(tools: Tools) -> None:
    part = part_of(await store(tools, LARGE))
    assert part is not None
    marks = (part.to_json(), part.at(("lines", "0")).to_json())
    call = LoadCall(tenant_id=TENANT, parts=marks, may_stay=(0, 1))
    loaded: Loaded = await ActivityEnvironment().run(value_activities(tools)[1], call)
    assert loaded.parts == (Piece((), marks[0]), Piece(("lines", 0), LARGE["lines"][0]))


async def test_a_value_that_stands_for_something_that_is_gone_cannot_be_loaded(tools: Tools) -> None:
    inner = part_of(await store(tools, LARGE))
    assert inner is not None
    outer = await store(tools, {"lost": inner.at(("nothing",)).to_json()})
    with pytest.raises(ApplicationError) as reported:
        await load(tools, outer)
    assert (reported.value.type, reported.value.non_retryable) == ("MissingValue", True)


async def test_another_tenants_value_is_not_loaded(tools: Tools) -> None:
    mark = await store(tools, LARGE)
    with pytest.raises(Exception, match="no blob") as reported:
        await load(tools, mark, tenant_id=OTHER)
    assert not isinstance(reported.value, ApplicationError)  # retried by Temporal: the disk may be unavailable


async def test_plain_data_among_what_is_to_be_loaded_is_a_mistake(tools: Tools) -> None:
    with pytest.raises(ApplicationError, match="is not a reference to a stored value") as reported:
        await load(tools, {"total": 3})
    assert reported.value.non_retryable
