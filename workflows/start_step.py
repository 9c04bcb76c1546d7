"""Start a step by its kind: an activity, a nested run or a wait. Questions to people are in review_request.py.

Also checks that a workflow's input fits Temporal's payload limit.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel
from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ApplicationError

from docrail.dag.engine.plan import Step
from docrail.dag.engine.saved_state import is_of
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, RetryConfig
from docrail.dag.language.inputs import InvalidValueError, complete_inputs
from docrail.dag.values.json_values import Json, canonical, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, part_of
from docrail.workflows.contract.messages import AttemptRequest, CacheUse, Callback, DeadLetter, StepOutcome
from docrail.workflows.contract.names import (
    RECORD_DEAD_LETTER,
    WORKFLOW_TYPE,
    Pinned,
    RunRequest,
    attributes_of,
    child_run_id,
    nested_key,
    tag_queue,
    workflow_id,
)
from docrail.workflows.lost_workers import NOT_RETRIED, Losses

Handle = asyncio.Task[StepOutcome]

NEVER_RETRIED = "PayloadsTooLarge"
"""Temporal's error for a result above its payload limit: the same result would be too large again."""

RECORD_TIMEOUT = timedelta(seconds=30)
"""Timeout of one attempt to write a row; attempts repeat until one succeeds, so that no question or failure is lost."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a step that is started: all of it, or one item if it runs over a list."""

    config: Json
    item_key: str | None = None
    cache_key: str | None = None
    inline_bytes: int = MAX_INLINE_BYTES
    """Largest output that is returned inline, in bytes."""
    is_one_of_many: bool = False
    """Whether it is started at once with many others (AttemptRequest)."""


def run_handler(request: RunRequest, step: Step, piece: Piece, losses: Losses) -> Handle:
    """Start the activity of a step's handler."""
    assert step.definition.handler is not None, "only handler steps run handlers"
    return start_call(request, step, step.definition.handler, call_of(request, step, piece, losses), losses)


def call_of(request: RunRequest, step: Step, piece: Piece, losses: Losses) -> AttemptRequest:
    """Return the argument of the activity of a step's handler."""
    call = _call(request, step, step.id, piece, losses)
    if cache := _cache_use(step, call, piece.cache_key):
        call = call.model_copy(update={"cache": cache})
    return call


def _cache_use(step: Step, call: AttemptRequest, key: str | None) -> CacheUse | None:
    """Return how a step uses the cache. A step that uses a callback URL is not cached.

    Its config contains only the URL's placeholder, which is unique to this run, and a cached output would mean that the
    URL was never called.
    """
    cache = step.definition.cache
    if cache is None or key is None or call.callbacks:
        return None
    return CacheUse(key=key, ttl_seconds=cache.ttl_seconds)


def undo(request: RunRequest, step: Step, config: Json, losses: Losses) -> Handle:
    """Start a step's compensation. It has an identity of its own, so that no handler confuses it with the step."""
    assert step.definition.compensate is not None, "only such steps are undone"
    name = f"{step.id}.compensate"
    call = _call(request, step, name, Piece(config), losses)
    return start_call(request, step, step.definition.compensate.handler, call, losses)


def _call(request: RunRequest, step: Step, step_id: str, piece: Piece, losses: Losses) -> AttemptRequest:
    retry = step.definition.retry_config
    return AttemptRequest(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step_id,
        item_key=piece.item_key,
        config=piece.config,
        jitter=retry.jitter,
        failed_before=losses.failed,
        elsewhere=losses.met_unfit,
        honor_retry_after=retry.honor_retry_after,
        secrets=step.secrets if step_id == step.id else step.compensation_secrets,
        callbacks=_asked_for(request, piece.config),
        inline_bytes=piece.inline_bytes,
        key_id=request.key_id,
        is_one_of_many=piece.is_one_of_many,
    )


def _asked_for(request: RunRequest, config: Json) -> tuple[Callback, ...]:
    """Return the callback URLs that a config uses. Few runs have any, so few configs are searched."""
    if not request.callbacks:
        return ()
    text = canonical(config)
    return tuple(callback for callback in request.callbacks if callback.placeholder in text)


def start_call(
    request: RunRequest, step: Step, handler: str, call: AttemptRequest, losses: Losses, prefix: str = ""
) -> Handle:
    """Start an activity with the step's limits, after the pause that an unfit worker or a failed group calls for.

    `prefix` begins its id in a workflow with several runs.
    """
    if losses.pause_seconds:
        return asyncio.create_task(_start_later(request, step, handler, call, losses, prefix))
    return _activity(request, step, handler, call, losses, prefix)


async def _start_later(
    request: RunRequest, step: Step, handler: str, call: AttemptRequest, losses: Losses, prefix: str
) -> StepOutcome:
    await workflow.sleep(losses.pause_seconds)
    return await _activity(request, step, handler, call, losses, prefix)


def _activity(
    request: RunRequest, step: Step, handler: str, call: AttemptRequest, losses: Losses, prefix: str
) -> Handle:
    definition = step.definition
    tag = definition.resource_tag
    return workflow.start_activity(
        handler,
        call,
        result_type=StepOutcome,
        activity_id=prefix + activity_id_of(call),
        summary=_summary(step, call),
        start_to_close_timeout=timedelta(seconds=definition.timeout_seconds),
        schedule_to_close_timeout=losses.left_of(definition.total_timeout_seconds),
        heartbeat_timeout=timedelta(seconds=definition.heartbeat_seconds),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry_policy=retry_policy(definition.retry_config, definition.max_retries - losses.failed),
        task_queue=None if tag is None else tag_queue(workflow.info().task_queue, tag),
        priority=priority_of(request, definition.priority),
    )


def activity_id_of(call: AttemptRequest) -> str:
    """Return the id of the activity that makes a call, in the workflow of its run."""
    return call.step_id if call.item_key is None else child_run_id(call.step_id, call.item_key)


def priority_of(request: RunRequest, key: int | None) -> Priority:
    """Return a step's priority, which is no more urgent than the tenant's may be; unset values are the run's."""
    return Priority(priority_key=None if key is None else max(key, request.highest_priority))


def _summary(step: Step, call: AttemptRequest) -> str:
    name = step.definition.title or step.id
    if call.step_id != step.id:
        return f"undo {name}"
    return name if call.item_key is None else f"{name}: {call.item_key[:100]}"


def retry_policy(retry: RetryConfig, max_retries: int) -> RetryPolicy:
    """Return Temporal's policy: its delays apply after crashes and timeouts; the wrapper adds jitter to errors."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=retry.initial_delay),
        backoff_coefficient=retry.exponential_base,
        maximum_interval=None if retry.max_delay is None else timedelta(seconds=retry.max_delay),
        maximum_attempts=max_retries + 1,
        non_retryable_error_types=[*retry.non_retryable, NEVER_RETRIED, *NOT_RETRIED],
    )


async def run_nested(request: RunRequest, step: Step, piece: Piece) -> RunReport:
    """Start a nested run and return its report once it completed or was aborted. Cancelling cancels it and waits.

    Outputs that are too large to pass on are stored by the nested run itself.
    """
    nested = step.definition.workflow
    assert nested is not None, "only workflow steps have nested runs"
    pinned = request.nested[nested_key(nested)]
    definition = Definition.model_validate(pinned.definition)
    inner = _inner(request, step, piece, pinned, definition)
    report: RunReport = await workflow.execute_child_workflow(
        WORKFLOW_TYPE,
        inner,
        id=workflow_id(request.tenant_id, inner.run_id),
        result_type=RunReport,
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        memo={"definition": definition.id, "version": pinned.version, "digest": pinned.digest},
        search_attributes=attributes_of(inner),
        static_summary=definition.title or definition.id,
    )
    is_stored = part_of(report.outputs) is not None
    if piece.item_key is not None and not is_stored and (size := size_of(report.outputs)) > piece.inline_bytes:
        message = f"the outputs of {inner.run_id} take {size} bytes as JSON, and the value store did not take them"
        raise ApplicationError(message, type="NotStored", non_retryable=True)
    return report


def _inner(request: RunRequest, step: Step, piece: Piece, pinned: Pinned, definition: Definition) -> RunRequest:
    """Return the request of a nested run. Raises: ApplicationError (InvalidInput, TooLarge)."""
    try:
        complete = complete_inputs(definition, piece.config)
    except InvalidValueError as error:
        raise ApplicationError(f"{definition.id}: {error}", type="InvalidInput", non_retryable=True) from error
    run_id = child_run_id(request.run_id, step.id, piece.item_key)
    left = request.resumed_inner.get(run_id)
    inside = {name: state for name, state in request.resumed_inner.items() if name.startswith(f"{run_id}~")}
    inner = request.model_copy(
        update={
            "run_id": run_id,
            **dict(pinned),
            "inputs": complete,
            "resumed": left if left is not None and is_of(left, complete) else None,
            "resumed_inner": inside,
            "inline_bytes": piece.inline_bytes,
        }
    )
    definitions = [inner.definition, *(each.definition for each in request.nested.values())]
    kept = [inner.resumed, inner.resumed_inner]
    check_travels(inner, "a nested run", {"definitions": definitions, "inputs": complete, KEPT: kept})
    return inner


async def wait(seconds: float | None) -> None:
    """Return after `seconds`; without them never, until cancelled."""
    if seconds is None:
        await asyncio.get_running_loop().create_future()
    else:
        await workflow.sleep(seconds)


async def record(letter: DeadLetter) -> None:
    """Record a failure in the dead-letter table, retried until it succeeds, so that the run does not end before."""
    await workflow.execute_activity(
        RECORD_DEAD_LETTER, letter, start_to_close_timeout=RECORD_TIMEOUT, summary=f"{letter.step_id} {letter.status}"
    )


MAX_PAYLOAD_BYTES = 2_000_000
"""Temporal accepts 2 MiB. Above it, the workflow task fails again and again, and the run makes no progress."""

KEPT = "states kept of an earlier attempt"


def check_travels(argument: BaseModel, what: str, parts: Mapping[str, Json]) -> None:
    """Check that `what` can be started with `argument`; `parts` are its possibly large parts, by name.

    Raises: ApplicationError (TooLarge).
    """
    if (size := len(argument.model_dump_json())) > MAX_PAYLOAD_BYTES:
        largest = ", ".join(f"{name}: {size_of(part)}" for name, part in parts.items())
        message = (
            f"what {what} is started with takes {size} bytes as JSON together, more than {MAX_PAYLOAD_BYTES} "
            f"({largest}): make the largest of them smaller, or pass references"
        )
        raise ApplicationError(message, type="TooLarge", non_retryable=True)
