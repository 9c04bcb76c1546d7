"""Wrap every handler as an activity: decode the call, send heartbeats, and decide what is retried and when."""

import asyncio
import math
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from temporalio import activity
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from docrail.activities.heartbeat import beating
from docrail.activities.step_cache import find_output, keep_output
from docrail.adapters.http.errors import WorkerNotConfiguredError
from docrail.adapters.redaction import redaction, start_recording
from docrail.adapters.store.parts import filled, marks_in, worded
from docrail.adapters.store.values import MAX_STORED_BYTES, may_hold_marks
from docrail.dag.engine.state import EARLIER_CHARACTERS, MOST_EARLIER, EarlierError, StepError
from docrail.dag.values.json_values import Json, shortened
from docrail.dag.values.stored import STORED, part_of
from docrail.handlers import Handler, RetryLaterError, StepCall, replaced
from docrail.handlers import Tools as HandlerTools
from docrail.services.storage_problems import storage_problem
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import EARLIER_ERRORS, WORKER_STOPPED, AttemptRequest, StepOutcome, errors_left

NOT_RETRIED = (ValueError, TypeError, KeyError, AttributeError)
"""Errors that the same call would raise again: bad data and programming errors (JSONDecodeError, ValidationError and
UnreadableDocument are ValueErrors). All others may be transient: networks, timeouts, disks."""

BEATS_PER_TIMEOUT = 3
"""Heartbeats sent within one heartbeat timeout, so that losing one does no harm."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Makes attempts at calls of `handler`, which gets the `given` tools, by default `tools`."""

    handler: Handler
    tools: Tools
    given: HandlerTools | None = None

    @property
    def used_tools(self) -> HandlerTools | Tools:
        """Return what the handler works with."""
        return self.given or self.tools

    def as_activity(self) -> Callable[[AttemptRequest], Coroutine[Any, Any, StepOutcome]]:
        """Return the Temporal activity of the handler."""

        @activity.defn(name=self.handler.name)
        async def execute(call: AttemptRequest) -> StepOutcome:
            info = activity.info()
            attempt = Attempt(self, call, errors_left(info.heartbeat_details))
            try:
                with heartbeats(info, attempt.number, attempt.earlier):
                    return await attempt.make()
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is reported to Temporal
                failure = attempt.failure_of(error)
                _leave_to_the_next(failure, attempt.number, attempt.earlier)
                # With its traceback but not as its cause, which would repeat the whole message in Temporal.
                raise failure.with_traceback(error.__traceback__) from None
            except asyncio.CancelledError:
                if not _is_stopped():
                    raise
                raise ApplicationError("the worker was stopped", attempt.progress, type=WORKER_STOPPED) from None

        return execute


class Attempt:
    """One attempt at a call, after attempts that failed with the `earlier` errors.

    Its parts may be made apart from each other. The secrets are recorded that the context of `begin` is given.
    """

    def __init__(self, own: Attempts, call: AttemptRequest, earlier: tuple[EarlierError, ...] = ()) -> None:
        """Number the attempt; nothing is done yet."""
        self._own, self._call, self.earlier = own, call, earlier
        self.number = call.failed_before + activity.info().attempt
        self.hidden: dict[str, str] = {}
        """The callback URLs in the config, and the placeholder that is stored in place of each."""

    @property
    def progress(self) -> dict[str, Json]:
        """Return the details of a failure."""
        return _progress(self.number, self.earlier)

    async def make(self) -> StepOutcome:
        """Make the whole attempt."""
        begun = await self.begin()
        return begun if isinstance(begun, StepOutcome) else await self.complete(await self.run(begun))

    async def begin(self) -> StepCall[Any] | StepOutcome:
        """Return the call for the handler, or its outcome from the cache."""
        own, call = self._own, self._call
        start_recording()
        urls = _callback_urls(call, own.tools)
        self.hidden = {url: placeholder for placeholder, url in urls.items()}
        config = own.handler.config.model_validate(replaced(await _whole_config(call, own.tools), urls))
        if call.cache is not None and (found := await find_output(call, call.cache, own.handler.name, own.tools)):
            output = await _found(found.output, call, own.tools)
            return StepOutcome(output=output, attempt=self.number, cached=True, earlier=self.earlier)
        return StepCall(
            call.tenant_id,
            call.run_id,
            call.step_id,
            self.number,
            config,
            call.item_key,
            self.hidden,
            call.secrets,
            retry_within_seconds=_retry_within(call),
            key_id=call.key_id,
        )

    async def run(self, step: StepCall[Any]) -> BaseModel:
        """Let the handler make the call."""
        return await self._own.handler.run(step, self._own.used_tools)

    async def complete(self, made: BaseModel) -> StepOutcome:
        """Return the outcome of the call for which the handler has `made` its output."""
        own, call = self._own, self._call
        output = redaction().json(replaced(made.model_dump(mode="json"), self.hidden))
        output = await _carried(output, call, own.tools)
        if call.cache is not None:
            await keep_output(call, call.cache, own.handler.name, output, own.tools)
        return StepOutcome(output=output, attempt=self.number, earlier=self.earlier)

    def failure_of(self, error: Exception) -> ApplicationError:
        """Return the failure for Temporal."""
        return _failure(error, self._call, self.hidden, self.progress)


class NoHandlerError(WorkerNotConfiguredError):
    """The worker does not have the step's handler."""


def missing_handler_activity(broken: Mapping[str, str]) -> Callable[[Sequence[RawValue]], Coroutine[Any, Any, None]]:
    """Return the activity for all names that this worker lacks: it leaves them to another worker.

    `broken` maps the names of unusable handlers to their errors.
    """

    @activity.defn(dynamic=True)
    async def missing_handler(arguments: Sequence[RawValue]) -> None:
        info = activity.info()
        reason = broken.get(info.activity_type, "set DOCRAIL_HANDLERS on every worker")
        error = NoHandlerError(f"this worker has no handler {info.activity_type!r}: {reason}")
        try:
            call = activity.payload_converter().from_payload(arguments[0].payload, AttemptRequest)
        except (ValueError, IndexError):  # another build's own activity, which is retried until a worker has it
            raise error from None
        progress = _progress(call.failed_before + info.attempt, errors_left(info.heartbeat_details))
        raise _failure(error, call, {}, progress) from None

    return missing_handler


def _is_stopped() -> bool:
    """Return whether the attempt is cancelled only because its worker stops."""
    details = activity.cancellation_details()
    return details is not None and details.worker_shutdown and not details.cancel_requested


def _progress(attempt: int, earlier: tuple[EarlierError, ...]) -> dict[str, Json]:
    """Return the details of a failure: the number of its attempt, and the errors of earlier ones."""
    return {"attempt": attempt} | ({"earlier": EARLIER_ERRORS.dump_python(earlier)} if earlier else {})


def _callback_urls(call: AttemptRequest, tools: Tools) -> dict[str, str]:
    """Return the URLs that the config needs, by placeholder: a history contains only the placeholders."""
    if not call.callbacks:
        return {}
    return tools.outside.callbacks.of(call, asked_at=activity.info().scheduled_time.timestamp())


class OutputTooLargeError(ValueError):
    """The handler's output exceeds the limit of the value store; the same call would return it again."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(
            f"the output takes {size_bytes} bytes as JSON, more than {MAX_STORED_BYTES}: let the step write it to a "
            "document or a file, and return a reference"
        )


class OutputHasMarkError(ValueError):
    """The handler's output contains data that looks like a reference to a stored value.

    The same call would return it again.

    Handlers get the values themselves, so the data came from outside. Passed on, it would be resolved in the
    next step's config: to a value of another run, if its author knows one, or to a value that does not exist.
    """

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(
            f"{worded(('output', *path))} is an object of '{STORED}' and 'bytes', as only Docrail may write it "
            "to refer to a stored value: return it as a text, or under other keys"
        )
        self.path = path


async def _whole_config(call: AttemptRequest, tools: Tools) -> Json:
    """Return the call's config with stored values filled in. Most configs contain none, and are not searched."""
    if not may_hold_marks(to_json(call.config, inf_nan_mode="constants")):
        return call.config
    return await filled(tools.values, call.tenant_id, call.config, most_bytes=MAX_STORED_BYTES, name="config")


async def _found(output: Json, call: AttemptRequest, tools: Tools) -> Json:
    """Return a cached output as this run carries it: the run that stored it may have had another size limit."""
    return output if part_of(output) is not None else await _carried(output, call, tools)


async def _carried(output: Json, call: AttemptRequest, tools: Tools) -> Json:
    """Return the output as the run carries it: inline, or its reference in the value store."""
    text = to_json(output, inf_nan_mode="constants")  # as in size_of
    if len(text) > MAX_STORED_BYTES:
        raise OutputTooLargeError(len(text))
    if may_hold_marks(text) and (path := next(marks_in(output), None)) is not None:
        raise OutputHasMarkError(path)
    if len(text) <= call.inline_bytes:
        return output
    return (await tools.values.put(call.tenant_id, output)).to_json()


def _leave_to_the_next(failure: ApplicationError, attempt: int, earlier: tuple[EarlierError, ...]) -> None:
    """Leave this attempt's error to the next attempt: Temporal keeps an attempt's last heartbeat, but no error."""
    info = activity.info()
    if info.heartbeat_timeout is None or failure.non_retryable:
        return
    error = StepError(failure.type or "", shortened(failure.message, EARLIER_CHARACTERS))
    activity.heartbeat(attempt, (*earlier, EarlierError(attempt, error))[-MOST_EARLIER:])


def heartbeats(info: activity.Info, attempt: int, earlier: tuple[EarlierError, ...]) -> AbstractContextManager[None]:
    """Send heartbeats while the body runs; the details are the attempt's number and errors.

    These are the errors of `earlier` attempts, for the next one if this one ends without a result.
    """
    if info.heartbeat_timeout is None:  # local activities have none
        return nullcontext()
    details = (attempt, earlier) if earlier else (attempt,)
    every_seconds = info.heartbeat_timeout.total_seconds() / BEATS_PER_TIMEOUT
    return beating(every_seconds, partial(activity.heartbeat, *details))


def _failure(
    error: Exception, call: AttemptRequest, hidden: Mapping[str, str], progress: dict[str, Json]
) -> ApplicationError:
    """Return the failure for Temporal. Its type is the error's class, so that `non_retryable` can name it.

    Temporal would count an attempt on a worker that lacks something, so the run makes it again (lost_workers.py).
    """
    is_unfit = isinstance(error, WorkerNotConfiguredError)
    return ApplicationError(
        shortened(redaction().text(replaced(_message(error), hidden))),
        progress | {"unfit": True} if is_unfit else progress,
        type=type(error).__name__,
        non_retryable=is_unfit or isinstance(error, NOT_RETRIED),
        next_retry_delay=_delay(progress["attempt"], call.jitter, _asked_for(error, call)),
    )


def _message(error: Exception) -> str:
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, fault['loc'])) or 'value'}: {fault['msg']}" for fault in error.errors())
        return f"{error.title} does not fit: {'; '.join(faults)}"
    if isinstance(error, KeyError):
        return f"missing key {error}"
    if isinstance(error, OSError) and error.errno and error.filename:  # of a disk
        return f"{storage_problem(error)} ({error})"
    return str(error) or type(error).__name__


def _asked_for(error: Exception, call: AttemptRequest) -> float | None:
    """Return the delay in seconds that the called service requested, if the step honours that."""
    return error.retry_after_seconds if call.honor_retry_after and isinstance(error, RetryLaterError) else None


def _retry_within(call: AttemptRequest) -> float | None:
    """Return the longest delay after which Temporal would still make another attempt; None if it makes none."""
    info = activity.info()
    policy, total = info.retry_policy, info.schedule_to_close_timeout
    if policy and policy.maximum_attempts and info.attempt >= policy.maximum_attempts:
        return None
    if not total:
        return math.inf
    left = (info.scheduled_time + total - datetime.now(UTC)).total_seconds() / (1 + call.jitter)
    usual = _delay(call.failed_before + info.attempt, 0, None)
    return None if usual and usual.total_seconds() >= left else left


def _delay(attempt: int, jitter: float, asked_for: float | None) -> timedelta | None:
    """Return the delay before the next attempt: the policy's or the requested one, and a random share of it.

    Both get jitter: callers that were refused at the same time would otherwise return at the same time.
    """
    policy = activity.info().retry_policy
    if policy is None:
        return None if asked_for is None else timedelta(seconds=asked_for)
    base = policy.initial_interval.total_seconds() * policy.backoff_coefficient ** (attempt - 1)
    delay = base if asked_for is None else asked_for
    delay += random.uniform(0, jitter * delay)  # noqa: S311 - no secret
    most = policy.maximum_interval
    return timedelta(seconds=min(delay, most.total_seconds()) if most else delay)
