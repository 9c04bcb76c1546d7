"""The settings give each limit its first value and never overwrite later changes."""

from collections.abc import AsyncIterator

import pytest
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import RateLimit
from temporalio.api.workflowservice.v1 import UpdateTaskQueueConfigRequest
from temporalio.client import Client
from temporalio.service import RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.errors import Unavailable
from docrail.services.limits.service import Applied, AppliedLimit, apply_limits, line_of
from tests.grpc_answers import grpc_server

pytestmark = pytest.mark.server

QUEUE = "fleet"
CONNECTED = None
"""The client's first call asks what the server can do; an empty answer is nothing special."""


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TemporalServer]:
    """A server of these tests' own: they kill it."""
    server = await start_temporal(tmp_path_factory.mktemp("limits"), 0, 0, report=print)
    yield server
    await server.process.kill()


async def apply(server: TemporalServer, tag: str, per_second: float) -> AppliedLimit:
    [applied] = await apply_limits(Connection(server.address), QUEUE, {tag: per_second})
    return applied


async def set_by_hand(server: TemporalServer, tag: str, per_second: float) -> None:
    """Set a limit as `temporal task-queue config set` does."""
    client = await Client.connect(server.address)
    limit = UpdateTaskQueueConfigRequest.RateLimitUpdate(rate_limit=RateLimit(requests_per_second=per_second))
    request = UpdateTaskQueueConfigRequest(
        namespace="default",
        identity="operator",
        task_queue=f"{QUEUE}.{tag}",
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        update_queue_rate_limit=limit,
    )
    await client.workflow_service.update_task_queue_config(request)


async def test_a_limit_is_set_once_and_follows_the_settings(temporal: TemporalServer) -> None:
    assert await apply(temporal, "followed", 0.1) == AppliedLimit("followed", Applied.SET, 0.1)
    assert await apply(temporal, "followed", 0.1) == AppliedLimit("followed", Applied.UNCHANGED, 0.1)
    assert await apply(temporal, "followed", 20) == AppliedLimit("followed", Applied.SET, 20)


async def test_a_limit_that_a_person_set_survives_restarts(temporal: TemporalServer) -> None:
    await apply(temporal, "changed", 10)
    await set_by_hand(temporal, "changed", 5)
    kept = AppliedLimit("changed", Applied.KEPT, 5, "operator")
    assert await apply(temporal, "changed", 20) == kept
    await temporal.process.kill()
    await temporal.process.start()
    assert await apply(temporal, "changed", 20) == kept


@pytest.mark.parametrize("refusal", [RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED])
async def test_a_temporal_that_keeps_no_limits_gets_them_from_the_workers(refusal: RPCStatusCode) -> None:
    async with grpc_server(CONNECTED, None, refusal) as address:
        applied = await apply_limits(Connection(address), QUEUE, {"gemini_api": 10})
    assert applied == [AppliedLimit("gemini_api", Applied.STATED, 10)]


async def test_an_unavailable_temporal_is_reported() -> None:
    with pytest.raises(Unavailable):
        await apply_limits(Connection("127.0.0.1:1"), QUEUE, {"gemini_api": 10})


@pytest.mark.parametrize(
    ("applied", "line"),
    [
        (AppliedLimit("a", Applied.SET, 10), "limited a to 10/s"),
        (AppliedLimit("a", Applied.UNCHANGED, 10), ""),
        (
            AppliedLimit("a", Applied.KEPT, 0.5, "operator ann"),
            (
                "a stays limited to 30/min, set by operator ann: `docrail limit reset a` restores the limit of the "
                "settings"
            ),
        ),
        (
            AppliedLimit("a", Applied.STATED, 1),
            "this Temporal does not store limits: the workers limit a to 1/s",
        ),
    ],
)
def test_the_line_about_a_limit_states_its_outcome(applied: AppliedLimit, line: str) -> None:
    assert line_of(applied) == line
