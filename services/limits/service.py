"""Show and change the rate limits of resource tags.

A limit is stored on the tag's task queue in Temporal, once for the whole fleet. The settings provide the initial value;
a limit that a person has changed is kept across restarts.
"""

import asyncio
import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from temporalio.api.enums.v1 import RateLimitSource, TaskQueueType
from temporalio.api.taskqueue.v1 import RateLimit, RateLimitConfig, TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeTaskQueueResponse,
    UpdateTaskQueueConfigRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.rates import HIGHEST_RATE, rate_text
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, Principal
from docrail.services.app import App
from docrail.services.engine import POLL_SECONDS, RPC_TIMEOUT, engine_errors, open_client
from docrail.services.errors import InvalidInput, NotFound, Unavailable
from docrail.services.limits.models import TagLimit
from docrail.workflows.contract.names import tag_queue

FROM_SETTINGS = "docrail settings"
"""Identity under which limits of the settings are set; it is reserved for them."""

OPERATOR = "operator "
"""Prefix of a person's name in the identity. It contains no tenant, because all tenants see it."""

RESET = "back to the settings"
"""Reason stored when a limit is reset."""

ACTIVITY = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
DIGITS = 6
"""Decimal places kept: Temporal stores rates as 32-bit floats, where 0.1 becomes 0.10000000149."""

MOST_READS, READ_AGAIN_SECONDS = 20, 0.1
"""How often a change is looked for before the older limit is reported."""

_KNOWN_SOURCES = frozenset({RateLimitSource.RATE_LIMIT_SOURCE_API, RateLimitSource.RATE_LIMIT_SOURCE_WORKER})
"""Any other source means that neither the queue nor a worker has set a limit yet."""

_NOT_KEPT = frozenset(
    {RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}
)  # servers before 1.29, and clusters that do not let Docrail set limits


class Applied(StrEnum):
    """Outcome of applying a limit of the settings."""

    SET = "set"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    """A person has changed the limit; it is kept."""
    STATED = "stated"
    """This Temporal stores no limits for Docrail: each worker sends the limit of the settings with its polls, and that
    applies."""


@dataclass(frozen=True, slots=True)
class AppliedLimit:
    """A limit after applying the settings: `per_second` is the effective one, whoever set it."""

    tag: str
    outcome: Applied
    per_second: float
    changed_by: str | None = None


def line_of(applied: AppliedLimit) -> str:
    """Return the line that `migrate` and `up` print about a limit of the settings; empty if nothing changed."""
    now = rate_text(applied.per_second)
    match applied.outcome:
        case Applied.SET:
            return f"limited {applied.tag} to {now}"
        case Applied.KEPT:
            return (
                f"{applied.tag} stays limited to {now}, set by {applied.changed_by}: "
                f"`docrail limit reset {applied.tag}` restores the limit of the settings"
            )
        case Applied.STATED:
            return f"this Temporal does not store limits: the workers limit {applied.tag} to {now}"
        case Applied.UNCHANGED:
            return ""


def check_tags(app: App, definitions: Iterable[Mapping[str, Json]]) -> None:
    """Refuse to start definitions (as JSON) whose resource tags no longer exist: their steps would wait indefinitely.

    Raises: InvalidInput.
    """
    known = ", ".join(app.resource_limits) or "none"
    problems = [
        InputProblem(
            f"{definition['id']}.{step['id']}.resource_tag",
            f"no worker takes steps with the tag {step['resource_tag']!r}: DOCRAIL_RESOURCE_LIMITS has {known}",
        )
        for definition in definitions
        for step in definition["steps"]
        if step.get("resource_tag") not in (None, *app.resource_limits)
    ]
    if problems:
        raise InvalidInput(problems)


async def list_limits(app: App, principal: Principal) -> list[TagLimit]:
    """Return the limit of every resource tag in the settings, to tenants without the work of others.

    Raises: Unavailable.
    """
    found = await asyncio.gather(*(_load(app, tag) for tag in app.resource_limits))
    if principal.tenant_id == DEFAULT_TENANT:
        return list(found)
    return [replace(each, waiting=None) for each in found]


async def set_limit(app: App, principal: Principal, tag: str, per_second: float, reason: str = "") -> TagLimit:
    """Change a tag's limit for the whole fleet, immediately and until the next change.

    Raises: NotFound, InvalidInput, Unavailable.
    """
    _check_tag(app, tag)
    if not 0 <= per_second <= HIGHEST_RATE:
        raise InvalidInput([InputProblem("per_second", f"must be between 0 and {HIGHEST_RATE:g}")])
    written = await _update(app, tag, per_second, OPERATOR + principal.name, reason)
    return await _load(app, tag, written)


async def reset_limit(app: App, _: Principal, tag: str) -> TagLimit:
    """Reset a tag's limit to that of the settings, which it follows from then on. Raises: NotFound, Unavailable."""
    _check_tag(app, tag)
    written = await _update(app, tag, app.resource_limits[tag], FROM_SETTINGS, RESET)
    return await _load(app, tag, written)


async def apply_limits(connection: Connection, task_queue: str, limits: Mapping[str, float]) -> list[AppliedLimit]:
    """Set each tag's queue to the limit of the settings, unless a person has changed it. Safe to repeat.

    Raises: Unavailable, InvalidConnection.
    """
    client = await open_client(connection)
    with engine_errors("task queue", task_queue):
        return [await _apply(client, task_queue, tag, per_second) for tag, per_second in limits.items()]


async def _apply(client: Client, task_queue: str, tag: str, per_second: float) -> AppliedLimit:
    queue = tag_queue(task_queue, tag)
    try:
        found = (await _describe(client, queue)).config.queue_rate_limit
        if found.HasField("rate_limit"):
            now = _rounded(found.rate_limit.requests_per_second)
            if found.metadata.update_identity != FROM_SETTINGS:
                return AppliedLimit(tag, Applied.KEPT, now, found.metadata.update_identity)
            if now == _rounded(per_second):
                return AppliedLimit(tag, Applied.UNCHANGED, per_second)
        await _set(client, queue, per_second, FROM_SETTINGS, "DOCRAIL_RESOURCE_LIMITS")
    except RPCError as error:
        if error.status not in _NOT_KEPT:
            raise
        return AppliedLimit(tag, Applied.STATED, per_second)
    return AppliedLimit(tag, Applied.SET, per_second)


def _check_tag(app: App, tag: str) -> None:
    if tag not in app.resource_limits:
        raise NotFound("resource tag", tag)


async def _update(app: App, tag: str, per_second: float, identity: str, reason: str) -> RateLimitConfig:
    queue = tag_queue(app.task_queue, tag)
    with engine_errors("task queue", queue):
        try:
            return await _set(app.temporal, queue, per_second, identity, reason)
        except RPCError as error:
            if error.status not in _NOT_KEPT:
                raise
            message = f"it does not store limits of task queues ({error.message}); change DOCRAIL_RESOURCE_LIMITS"
            raise Unavailable("Temporal", message) from error


async def _load(app: App, tag: str, written: RateLimitConfig | None = None) -> TagLimit:
    """Return a limit, as it is `written`: what describes a queue in Temporal learns of a change a moment later."""
    queue = tag_queue(app.task_queue, tag)
    with engine_errors("task queue", queue):
        found = await _describe(app.temporal, queue)
        for _ in range(MOST_READS):
            if written is None or _time_of(found.config.queue_rate_limit) >= _time_of(written):
                break
            await asyncio.sleep(READ_AGAIN_SECONDS)
            found = await _describe(app.temporal, queue)
    return _tag_limit(app, tag, found, dt.datetime.now(dt.UTC))


def _time_of(limit: RateLimitConfig) -> dt.datetime:
    return limit.metadata.update_time.ToDatetime(dt.UTC)


def _tag_limit(app: App, tag: str, found: DescribeTaskQueueResponse, now: dt.datetime) -> TagLimit:
    initial = app.resource_limits[tag]
    known = found.effective_rate_limit.rate_limit_source in _KNOWN_SOURCES
    changed = _change(found.config.queue_rate_limit)
    oldest = now - dt.timedelta(seconds=POLL_SECONDS)
    polling = {poller.identity for poller in found.pollers if poller.last_access_time.ToDatetime(dt.UTC) > oldest}
    return TagLimit(
        tag=tag,
        task_queue=tag_queue(app.task_queue, tag),
        per_second=_rounded(found.effective_rate_limit.requests_per_second) if known else initial,
        initial_per_second=initial,
        changed_by=None if changed is None else changed.metadata.update_identity,
        changed_at=None if changed is None else changed.metadata.update_time.ToDatetime(dt.UTC),
        reason=None if changed is None else changed.metadata.reason or None,
        waiting=found.stats.approximate_backlog_count,
        workers=len(polling),
    )


def _change(found: RateLimitConfig) -> RateLimitConfig | None:
    """Return the limit if a person has set it, else None."""
    theirs = found.HasField("rate_limit") and found.metadata.update_identity != FROM_SETTINGS
    return found if theirs else None


def _rounded(per_second: float) -> float:
    return round(per_second, DIGITS)


async def _describe(client: Client, queue: str) -> DescribeTaskQueueResponse:
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=ACTIVITY,
        report_stats=True,
        report_config=True,
    )
    return await client.workflow_service.describe_task_queue(request, timeout=RPC_TIMEOUT)


async def _set(client: Client, queue: str, per_second: float, identity: str, reason: str) -> RateLimitConfig:
    limit = UpdateTaskQueueConfigRequest.RateLimitUpdate(
        rate_limit=RateLimit(requests_per_second=per_second), reason=reason
    )
    request = UpdateTaskQueueConfigRequest(
        namespace=client.namespace,
        identity=identity,
        task_queue=queue,
        task_queue_type=ACTIVITY,
        update_queue_rate_limit=limit,
    )
    answer = await client.workflow_service.update_task_queue_config(request, timeout=RPC_TIMEOUT)
    return answer.config.queue_rate_limit
