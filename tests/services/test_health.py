"""Which workers count as there, by their polls and heartbeats. On real servers: tests/api/test_workers.py."""

import datetime as dt

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import WorkerStatus
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.api.worker.v1 import WorkerHeartbeat

from docrail.services.fleet.health import OK, check_workers

NOW = dt.datetime(2026, 11, 3, 12, tzinfo=dt.UTC)
RUNNING = WorkerStatus.WORKER_STATUS_RUNNING
STOPPING = WorkerStatus.WORKER_STATUS_SHUTTING_DOWN


def ago(seconds: float) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(NOW - dt.timedelta(seconds=seconds))
    return moment


def poll(seconds_ago: float, identity: str = "1@a") -> PollerInfo:
    return PollerInfo(identity=identity, last_access_time=ago(seconds_ago))


def beat(
    seconds_ago: float, interval: float = 5, identity: str = "1@a", status: WorkerStatus.ValueType = RUNNING
) -> WorkerHeartbeat:
    elapsed = Duration()
    elapsed.FromTimedelta(dt.timedelta(seconds=interval))
    return WorkerHeartbeat(
        worker_identity=identity, status=status, heartbeat_time=ago(seconds_ago), elapsed_since_last_heartbeat=elapsed
    )


@pytest.mark.parametrize(
    ("pollers", "heartbeats"),
    [
        pytest.param([poll(59)], [], id="polls without heartbeats, as old workers do"),
        pytest.param([poll(59)], [beat(12)], id="a late heartbeat"),
        pytest.param([poll(1)], [beat(3, status=STOPPING)], id="begun after another one of its identity stopped"),
        pytest.param([poll(59)], [beat(55, interval=60)], id="rare heartbeats"),
        pytest.param([poll(10)], [beat(10, interval=0)], id="its first heartbeat, before the interval is known"),
        pytest.param([poll(10)], [beat(99), beat(1)], id="the next worker of a container whose worker was killed"),
        pytest.param([poll(10)], [beat(99, identity="2@b")], id="another worker was killed"),
        pytest.param([poll(1), poll(10, "2@b")], [beat(99), beat(1, identity="2@b")], id="one of two was killed"),
        pytest.param([poll(10)], [beat(-30)], id="a clock that is ahead"),
    ],
)
def test_a_worker_is_there(pollers: list[PollerInfo], heartbeats: list[WorkerHeartbeat]) -> None:
    assert check_workers("docrail", pollers, heartbeats, NOW) == OK


@pytest.mark.parametrize(
    ("pollers", "heartbeats", "reported"),
    [
        pytest.param([], [beat(1)], "'docrail'", id="polls another kind of task"),
        pytest.param([poll(91)], [], "polled 91 s ago", id="polls no more"),
        pytest.param([poll(91)], [beat(1)], "polled 91 s ago", id="lives, but polls no more"),
        pytest.param([poll(10)], [beat(13)], "sent its last heartbeat 13 s ago", id="killed"),
        pytest.param([poll(10)], [beat(1, status=STOPPING)], "is stopping", id="drains"),
        pytest.param(
            [poll(10), poll(2, "2@b")],
            [beat(99), beat(1, identity="2@b", status=STOPPING)],
            "is stopping",
            id="both gone",
        ),
    ],
)
def test_no_worker_is_there(pollers: list[PollerInfo], heartbeats: list[WorkerHeartbeat], reported: str) -> None:
    found = check_workers("docrail", pollers, heartbeats, NOW)
    assert found.startswith("no worker polls the task queue 'docrail'")
    assert found.endswith(reported)
