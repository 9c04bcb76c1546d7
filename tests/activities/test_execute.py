"""The one wrapper: what is retried and when, what is shown to Temporal, and the heartbeats meanwhile."""

import asyncio
import dataclasses
import json
import traceback
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import asyncpg
import pytest
from pydantic import BaseModel
from temporalio.activity import Info
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from docrail.activities.wrapper import Attempts
from docrail.adapters.gemini.ask import NotConfiguredError
from docrail.adapters.http.addresses import RefusedAddressError
from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.store.values import MAX_STORED_BYTES
from docrail.dag.engine.state import EARLIER_CHARACTERS, EarlierError, StepError
from docrail.dag.values.json_values import LONGEST_MESSAGE
from docrail.handlers import Handler, StepCall
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.services.callback_urls import NoCallbacksError
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import AttemptRequest, StepOutcome

POLICY = RetryPolicy(initial_interval=timedelta(seconds=10), backoff_coefficient=2.0, maximum_attempts=4)
CALL = AttemptRequest(tenant_id="t", run_id="r.1", step_id="s", config={"text": "x"}, jitter=0.5)


class Config(BaseModel, extra="forbid"):
    text: str


class Output(BaseModel):
    text: str


def environment(
    *, attempt: int = 1, policy: RetryPolicy = POLICY, heartbeat: float | None = None
) -> ActivityEnvironment:
    made = ActivityEnvironment()
    info: Info = dataclasses.replace(
        ActivityEnvironment.default_info(),
        attempt=attempt,
        retry_policy=policy,
        heartbeat_timeout=None if heartbeat is None else timedelta(seconds=heartbeat),
    )
    made.info = info
    return made


async def execute(
    error: Exception | None = None, *, call: AttemptRequest = CALL, times: int = 1, **more: Any
) -> StepOutcome:
    """Run the wrapper around a handler that raises `error`, or repeats its text `times` times."""

    async def run(call: StepCall[Config], _: Tools) -> Output:
        if error is not None:
            raise error
        return Output(text=call.config.text * times)

    activity = Attempts(Handler("shown", Config, Output, run), cast("Tools", None)).as_activity()
    return cast("StepOutcome", await environment(**more).run(activity, call))


async def refusal(error: Exception, **more: Any) -> ApplicationError:
    with pytest.raises(ApplicationError) as raised:
        await execute(error, **more)
    return raised.value


async def test_the_output_comes_back_with_the_attempt_that_made_it() -> None:
    assert await execute(attempt=3) == StepOutcome(output={"text": "x"}, attempt=3)


async def test_attempts_before_a_lost_worker_are_counted() -> None:
    call = CALL.model_copy(update={"failed_before": 2})
    assert (await execute(call=call, attempt=2)).attempt == 4


def not_json() -> json.JSONDecodeError:
    return json.JSONDecodeError("Expecting value", "x", 0)


@pytest.mark.parametrize(
    "error",
    [
        *(ValueError("no date"), TypeError("no text"), KeyError("total"), AttributeError("no total"), not_json()),
        UnreadableDocument(Unreadable.EMPTY, "The file is empty."),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_permanent_errors_are_not_retried(error: Exception) -> None:
    shown = await refusal(error, attempt=2)
    assert shown.non_retryable
    assert shown.type == type(error).__name__
    assert shown.details == ({"attempt": 2},)


@pytest.mark.parametrize(
    "error",
    [
        *(ConnectionError("refused"), TimeoutError("slow"), OSError(28, "No space left on device"), RuntimeError("?")),
        *(asyncpg.ConnectionDoesNotExistError("gone"), asyncpg.TooManyConnectionsError("full")),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_transient_errors_are_retried(error: Exception) -> None:
    assert not (await refusal(error)).non_retryable


@pytest.mark.parametrize(
    "error",
    [NoCallbacksError("no address"), NotConfiguredError("no key"), RefusedAddressError("erp", "it is private")],
    ids=lambda error: type(error).__name__,
)
async def test_an_attempt_at_a_worker_without_a_setting_is_not_counted(error: Exception) -> None:
    shown = await refusal(error, attempt=2)
    assert shown.details == ({"attempt": 2, "unfit": True},)
    assert shown.non_retryable, "Temporal would count the next one: the run makes it again"


@pytest.mark.parametrize(("attempt", "least"), [(1, 10), (2, 20), (3, 40)])
async def test_the_delay_doubles_and_has_up_to_half_of_itself_as_jitter(attempt: int, least: int) -> None:
    delays = [(await refusal(OSError("away"), attempt=attempt)).next_retry_delay for _ in range(40)]
    seconds = [delay.total_seconds() for delay in delays if delay is not None]
    assert len(set(seconds)) > 1
    assert all(least <= second <= least * 1.5 for second in seconds)
    assert max(seconds) > least * 1.2


async def test_the_delay_is_capped_with_its_jitter() -> None:
    policy = dataclasses.replace(POLICY, maximum_interval=timedelta(seconds=12))
    shown = await refusal(OSError("away"), attempt=3, policy=policy)
    assert shown.next_retry_delay == timedelta(seconds=12)


def later(seconds: float | None) -> TryAgainLaterError:
    return TryAgainLaterError("GET https://a.example", 429, retry_after_seconds=seconds)


async def test_the_delay_that_was_asked_for_wins_over_the_policys() -> None:
    for seconds in (2.0, 90.0):
        delay = (await refusal(later(seconds), attempt=3)).next_retry_delay
        assert delay is not None
        assert seconds <= delay.total_seconds() <= seconds * (1 + CALL.jitter)


async def test_the_delay_that_was_asked_for_stays_below_max_delay() -> None:
    policy = dataclasses.replace(POLICY, maximum_interval=timedelta(seconds=30))
    assert (await refusal(later(90), policy=policy)).next_retry_delay == timedelta(seconds=30)


async def test_without_a_wish_the_policy_decides() -> None:
    delay = (await refusal(later(None), attempt=2)).next_retry_delay
    assert delay is not None
    assert 20 <= delay.total_seconds() <= 30


async def test_a_step_may_ignore_what_was_asked_for() -> None:
    call = CALL.model_copy(update={"honor_retry_after": False})
    delay = (await refusal(later(90), call=call, attempt=1)).next_retry_delay
    assert delay is not None
    assert 10 <= delay.total_seconds() <= 15


async def test_a_config_that_does_not_fit_names_the_field_and_is_not_retried() -> None:
    with pytest.raises(ApplicationError, match="Config does not fit: text: Field required; txt: Extra inputs") as shown:
        await execute(call=CALL.model_copy(update={"config": {"txt": "x"}}))
    assert shown.value.non_retryable


async def test_an_output_that_no_run_can_carry_is_refused_with_its_size() -> None:
    with pytest.raises(ApplicationError, match=rf"takes {MAX_STORED_BYTES + 11} bytes as JSON") as shown:
        await execute(times=MAX_STORED_BYTES)
    assert shown.value.non_retryable


async def test_a_long_message_is_cut_and_reported_once() -> None:
    shown = await refusal(ValueError("x" * 3_000_000))
    assert shown.message == "x" * (LONGEST_MESSAGE - 1) + "…"
    assert shown.__cause__ is None


async def test_the_report_keeps_the_traceback() -> None:
    shown = await refusal(ValueError("no date"))
    assert "raise error" in "".join(traceback.format_tb(shown.__traceback__))


async def test_the_heart_beats_with_the_attempt_while_the_handler_works() -> None:
    beats: list[Any] = []
    enough = asyncio.Event()

    async def wait(_call: StepCall[Config], _: Tools) -> Output:
        await enough.wait()
        return Output(text="done")

    def heard(attempt: Any) -> None:
        beats.append(attempt)
        if len(beats) == 3:
            enough.set()

    made = environment(attempt=2, heartbeat=0.03)
    made.on_heartbeat = heard
    await made.run(Attempts(Handler("shown", Config, Output, wait), cast("Tools", None)).as_activity(), CALL)
    assert beats == [2, 2, 2]


async def beats_of(error: Exception, info: Info) -> list[tuple[Any, ...]]:
    """Return the last heartbeat of an attempt that fails with `error`."""
    beats: list[tuple[Any, ...]] = []

    async def run(_call: StepCall[Config], _: Tools) -> Output:
        raise error

    made = environment()
    made.info, made.on_heartbeat = info, lambda *details: beats.append(details)
    with pytest.raises(ApplicationError):
        await made.run(Attempts(Handler("shown", Config, Output, run), cast("Tools", None)).as_activity(), CALL)
    return beats


async def test_an_attempt_leaves_its_error_and_those_before_it_to_the_next() -> None:
    before = [{"attempt": 1, "error": {"type": "OSError", "message": "disk"}, "item": ""}]
    info = dataclasses.replace(environment(attempt=2, heartbeat=60).info, heartbeat_details=[1, before])
    [(attempt, left)] = await beats_of(ConnectionError("x" * 1000), info)
    assert (attempt, [each.attempt for each in left]) == (2, [1, 2])
    assert left[0].error == StepError("OSError", "disk")
    assert (left[1].error.type, len(left[1].error.message)) == ("ConnectionError", EARLIER_CHARACTERS)


async def test_an_attempt_that_no_other_follows_leaves_nothing() -> None:
    assert await beats_of(ValueError("wrong"), environment(heartbeat=60).info) == []


async def test_only_the_latest_errors_are_left() -> None:
    before = [{"attempt": n, "error": {"type": "OSError", "message": ""}, "item": ""} for n in range(2, 7)]
    info = dataclasses.replace(environment(attempt=7, heartbeat=60).info, heartbeat_details=[6, before])
    [(_, left)] = await beats_of(ConnectionError("again"), info)
    assert [each.attempt for each in left] == [3, 4, 5, 6, 7]


async def test_an_outcome_tells_how_earlier_attempts_failed() -> None:
    before = [{"attempt": 1, "error": {"type": "OSError", "message": "disk"}, "item": ""}]
    made = environment(attempt=2, heartbeat=60)
    made.info = dataclasses.replace(made.info, heartbeat_details=[1, before])

    async def run(_call: StepCall[Config], _: Tools) -> Output:
        return Output(text="done")

    outcome = await made.run(Attempts(Handler("shown", Config, Output, run), cast("Tools", None)).as_activity(), CALL)
    assert outcome.earlier == (EarlierError(1, StepError("OSError", "disk")),)


def info_of(*, attempt: int, total: float | None = None, begun: float = 0, policy: RetryPolicy = POLICY) -> Info:
    """Return what Temporal says of an attempt of a step that began `begun` seconds ago and may take `total`."""
    return dataclasses.replace(
        environment(attempt=attempt, policy=policy).info,
        schedule_to_close_timeout=None if total is None else timedelta(seconds=total),
        scheduled_time=datetime.now(UTC) - timedelta(seconds=begun),
    )


@pytest.mark.parametrize(
    ("shown", "asked_seconds", "is_made"),
    [
        ({"attempt": 1}, 80_000, True),
        ({"attempt": 3}, 80_000, True),
        ({"attempt": 4}, 0, False),
        ({"attempt": 40, "policy": RetryPolicy(maximum_attempts=0)}, 0, True),
        ({"attempt": 1, "total": 100, "begun": 20}, 50, True),
        ({"attempt": 1, "total": 100, "begun": 20}, 60, False),  # with jitter it may take 90 s
        ({"attempt": 1, "total": 100, "begun": 20}, 80, False),
        ({"attempt": 1, "total": 100, "begun": 95}, 0, False),  # the policy's own 10 s are too late
        ({"attempt": 3, "total": 100, "begun": 70}, 0, False),  # and so are its 40 s
    ],
)
async def test_a_handler_knows_whether_another_attempt_would_follow(
    shown: dict[str, Any], asked_seconds: float, is_made: bool
) -> None:
    async def run(call: StepCall[Config], _: Tools) -> Output:
        return Output(text=str(call.may_retry_in(asked_seconds)))

    made = ActivityEnvironment()
    made.info = info_of(**shown)
    outcome = await made.run(Attempts(Handler("shown", Config, Output, run), cast("Tools", None)).as_activity(), CALL)
    assert outcome.output == {"text": str(is_made)}
