"""Which build of the code new runs get, and which builds older runs still need (ADR 15). Temporal keeps both.

A build is what workers with one DOCRAIL_BUILD_ID run. Runs stay on the build that they began on.
"""

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from temporalio.api.deployment.v1 import RoutingConfig, WorkerDeploymentInfo
from temporalio.api.enums.v1 import RoutingConfigUpdateState, TaskQueueType, WorkerDeploymentVersionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeWorkerDeploymentRequest,
    SetWorkerDeploymentCurrentVersionRequest,
    SetWorkerDeploymentRampingVersionRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from operations.connection import Connection
from operations.engine import RPC_TIMEOUT, engine_errors, open_client
from operations.errors import OperationError
from operations.health import OK, check_workers, describe_queue, is_of_build, load_heartbeats
from workflows.contract import tag_queue

LOOK_AGAIN_SECONDS = 0.5

_STATUSES = WorkerDeploymentVersionStatus
_WORKFLOWS, _ACTIVITIES = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
_NOT_YET = frozenset({RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION})
"""What Temporal answers until it has noted the polls of a new build, and of all its queues."""


class BuildStatus(StrEnum):
    """What becomes of new runs at a build, and whether older ones need it."""

    INACTIVE = "inactive"
    """No run was ever sent there."""
    CURRENT = "current"
    RAMPING = "ramping"
    """It gets a share of the new runs."""
    DRAINING = "draining"
    """It gets no new runs; some that began on it are open, or were a few minutes ago."""
    DRAINED = "drained"
    """No run needs it any more: its workers can be stopped."""


class BuildUnfit(OperationError):  # noqa: N818  # named for what it says, like every refusal
    """New runs cannot be sent to a build. Its text says why; it never leaves over HTTP."""

    def __init__(self, build_id: str, problem: str) -> None:
        super().__init__(f"new runs do not go to the build {build_id!r} yet: {problem}")
        self.build_id = build_id


@dataclass(frozen=True, slots=True)
class Fleet:
    """The workers of one task queue, and the name under which Temporal tells their builds apart."""

    connection: Connection
    deployment: str
    task_queue: str
    tags: tuple[str, ...]
    """The resource tags of the settings: each has a queue of its own."""


@dataclass(frozen=True, slots=True)
class Build:
    """One build, as Temporal knows it. `percentage` of the new runs go there: 100 to the current one but for others."""

    build_id: str
    status: BuildStatus
    percentage: float
    open_runs: int
    since: dt.datetime
    """When new runs were last sent there, or to others; before that, when its first worker came."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A fleet's builds, newest first. Without a current one, workers without a build get the other new runs."""

    name: str
    task_queue: str
    builds: tuple[Build, ...]

    @property
    def current(self) -> str | None:
        """The id of the current build."""
        return next((build.build_id for build in self.builds if build.status is BuildStatus.CURRENT), None)


async def load_deployment(fleet: Fleet) -> Deployment:
    """Return the builds that ever polled and are not forgotten. Raises: Unavailable, ConnectionUnfit."""
    client = await open_client(fleet.connection)
    with engine_errors("deployment", fleet.deployment):
        found = await _describe(client, fleet.deployment)
        builds = [] if found is None else [build async for build in _builds(client, found)]
    return Deployment(fleet.deployment, fleet.task_queue, tuple(builds))


async def deploy(
    fleet: Fleet,
    build_id: str,
    *,
    percentage: float | None = None,
    force: bool = False,
    wait_seconds: float = 60.0,
    report: Callable[[str], None] = lambda _: None,
) -> Deployment:
    """Send new runs to a build, or only `percentage` of them; return when that counts everywhere.

    First waits until its workers poll the task queue, and that of every resource tag: a build that leaves one out is
    sent runs only with `force`, and their limited steps wait until somebody takes them. Runs that are open stay where
    they are. Raises: BuildUnfit, Unavailable, ConnectionUnfit.
    """
    client, deadline = await open_client(fleet.connection), time.monotonic() + wait_seconds
    with engine_errors("deployment", fleet.deployment):
        found = await _describe(client, fleet.deployment)
        if percentage is not None and found and found.routing_config.current_deployment_version.build_id == build_id:
            raise BuildUnfit(build_id, "it is the current one, which gets all that no other build gets")
        await _workers_of(client, fleet, build_id, force=force, deadline=deadline, report=report)
        await _send(lambda: _route(client, fleet.deployment, build_id, percentage, force=force), build_id, deadline)
        await _settle(client, fleet.deployment, deadline)
    return await load_deployment(fleet)


async def withdraw(fleet: Fleet, *, wait_seconds: float = 60.0) -> Deployment:
    """Send new runs to workers without a build id again. Raises: Unavailable, ConnectionUnfit."""
    client, deadline = await open_client(fleet.connection), time.monotonic() + wait_seconds
    with engine_errors("deployment", fleet.deployment):
        if await _describe(client, fleet.deployment):
            await _route(client, fleet.deployment, "", 0, force=True)
            await _route(client, fleet.deployment, "", None, force=True)
            await _settle(client, fleet.deployment, deadline)
    return await load_deployment(fleet)


async def _describe(client: Client, deployment: str) -> WorkerDeploymentInfo | None:
    """Return what Temporal knows of the builds; None if no worker with one ever came."""
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=deployment)
    try:
        answer = await client.workflow_service.describe_worker_deployment(request, timeout=RPC_TIMEOUT)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None
    return answer.worker_deployment_info


async def _builds(client: Client, found: WorkerDeploymentInfo) -> AsyncIterator[Build]:
    routing = found.routing_config
    for summary in sorted(found.version_summaries, key=lambda one: one.create_time.ToNanoseconds(), reverse=True):
        build_id = summary.deployment_version.build_id
        query = f'TemporalWorkerDeploymentVersion = "{found.name}:{build_id}" AND ExecutionStatus = "Running"'
        changed = summary.routing_update_time if summary.HasField("routing_update_time") else summary.create_time
        yield Build(
            build_id=build_id,
            status=_status(summary.status),
            percentage=_percentage(routing, build_id),
            open_runs=(await client.count_workflows(query, rpc_timeout=RPC_TIMEOUT)).count,
            since=changed.ToDatetime(dt.UTC),
        )


def _status(told: _STATUSES.ValueType) -> BuildStatus:
    name = _STATUSES.Name(told).removeprefix("WORKER_DEPLOYMENT_VERSION_STATUS_").lower()
    return BuildStatus(name) if name in list(BuildStatus) else BuildStatus.INACTIVE


def _percentage(routing: RoutingConfig, build_id: str) -> float:
    ramping = round(routing.ramping_version_percentage, 3)
    if routing.ramping_deployment_version.build_id == build_id:
        return ramping
    return 100.0 - ramping if routing.current_deployment_version.build_id == build_id else 0.0


async def _workers_of(
    client: Client, fleet: Fleet, build_id: str, *, force: bool, deadline: float, report: Callable[[str], None]
) -> None:
    """Return when workers of a build poll every queue; with `force`, at once."""
    told: list[str] = []
    while missing := [queue async for queue in _unpolled(client, fleet, build_id)]:
        if force:
            report(f"no worker of build {build_id} polls {', '.join(missing)}")
            return
        if time.monotonic() > deadline:
            problem = f"none of its workers polls {', '.join(missing)}. Start one with DOCRAIL_BUILD_ID={build_id}"
            raise BuildUnfit(build_id, problem)
        if missing != told:
            report(f"waiting for a worker of build {build_id} that polls {', '.join(missing)}")
            told = missing
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


async def _unpolled(client: Client, fleet: Fleet, build_id: str) -> AsyncIterator[str]:
    """Yield the queues that no living worker of a build polls."""
    for queue, kind in _queues(fleet):
        pollers = (await describe_queue(client, queue, kind)).pollers
        ours = [poller for poller in pollers if is_of_build(poller, fleet.deployment, build_id)]
        if check_workers(queue, ours, await load_heartbeats(client, queue), dt.datetime.now(dt.UTC)) != OK:
            yield queue


def _queues(fleet: Fleet) -> Iterator[tuple[str, TaskQueueType.ValueType]]:
    yield fleet.task_queue, _WORKFLOWS
    yield from ((tag_queue(fleet.task_queue, tag), _ACTIVITIES) for tag in fleet.tags)


async def _route(client: Client, deployment: str, build_id: str, percentage: float | None, *, force: bool) -> None:
    """Tell Temporal where new runs go; no build: to workers without one."""
    if percentage is None:
        current = SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace,
            deployment_name=deployment,
            build_id=build_id,
            identity=client.identity,
            ignore_missing_task_queues=force,
            allow_no_pollers=force,
        )
        await client.workflow_service.set_worker_deployment_current_version(current, timeout=RPC_TIMEOUT)
        return
    ramping = SetWorkerDeploymentRampingVersionRequest(
        namespace=client.namespace,
        deployment_name=deployment,
        build_id=build_id,
        percentage=percentage,
        identity=client.identity,
        ignore_missing_task_queues=force,
        allow_no_pollers=force,
    )
    await client.workflow_service.set_worker_deployment_ramping_version(ramping, timeout=RPC_TIMEOUT)


async def _send(route: Callable[[], Awaitable[None]], build_id: str, deadline: float) -> None:
    while True:
        try:
            return await route()
        except RPCError as error:
            if error.status not in _NOT_YET:
                raise
            if time.monotonic() > deadline:
                raise BuildUnfit(build_id, f"Temporal says: {error.message}") from error
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


async def _settle(client: Client, deployment: str, deadline: float) -> None:
    """Return when every task queue has heard of it."""
    in_progress = RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS
    while (found := await _describe(client, deployment)) and found.routing_config_update_state == in_progress:
        if time.monotonic() > deadline:
            return  # it is decided, and will get there
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
