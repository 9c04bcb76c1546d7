"""Which workers are listed, by their heartbeats. On real processes: tests/api/test_workers.py."""

import datetime as dt

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import WorkerStatus
from temporalio.api.worker.v1 import WorkerHeartbeat, WorkerHostInfo

from docrail.services.fleet.models import WorkerState
from docrail.services.fleet.workers import workers_of

NOW = dt.datetime(2026, 11, 3, 12, tzinfo=dt.UTC)
RUNNING, STOPPING, STOPPED = (
    WorkerStatus.WORKER_STATUS_RUNNING,
    WorkerStatus.WORKER_STATUS_SHUTTING_DOWN,
    WorkerStatus.WORKER_STATUS_SHUTDOWN,
)
TAGS = {"docrail": None, "docrail.database": "database"}


def ago(seconds: float) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(NOW - dt.timedelta(seconds=seconds))
    return moment


def beat(
    seconds_ago: float,
    process: str = "a",
    queue: str = "docrail",
    status: WorkerStatus.ValueType = RUNNING,
    interval: float = 5,
) -> WorkerHeartbeat:
    elapsed = Duration()
    elapsed.FromTimedelta(dt.timedelta(seconds=interval))
    return WorkerHeartbeat(
        worker_identity="1@container",
        host_info=WorkerHostInfo(host_name="container", process_id="1", worker_grouping_key=process),
        task_queue=queue,
        status=status,
        start_time=ago(900),
        heartbeat_time=ago(seconds_ago),
        elapsed_since_last_heartbeat=elapsed,
    )


@pytest.mark.parametrize(
    ("beats", "expected"),
    [
        pytest.param([beat(1)], [WorkerState.WORKING], id="works"),
        pytest.param([beat(1), beat(1, queue="docrail.database")], [WorkerState.WORKING], id="one process, two queues"),
        pytest.param([beat(14), beat(1, "b")], [WorkerState.SILENT, WorkerState.WORKING], id="one of two is frozen"),
        pytest.param([beat(3599)], [WorkerState.SILENT], id="silent for almost an hour"),
        pytest.param([beat(3601)], [], id="silent for more than an hour"),
        pytest.param([beat(1, status=STOPPED)], [], id="has stopped"),
        pytest.param(
            [beat(1, status=STOPPED), beat(1, queue="docrail.database", status=STOPPING)],
            [WorkerState.DRAINING],
            id="one of its queues is drained",
        ),
        pytest.param([beat(3, status=STOPPING)], [WorkerState.DRAINING], id="drains"),
        pytest.param([beat(14, status=STOPPING)], [], id="has drained"),
        pytest.param([beat(14, status=STOPPING, interval=0)], [], id="stopped at once"),
        pytest.param([beat(3, status=STOPPING, interval=0.1)], [WorkerState.DRAINING], id="has just begun to drain"),
        pytest.param(
            [beat(99, status=STOPPING, interval=60), beat(99, queue="docrail.database", status=STOPPING, interval=0)],
            [WorkerState.DRAINING],
            id="drains, and sends heartbeats rarely",
        ),
        pytest.param([beat(99, interval=0)], [WorkerState.WORKING], id="its first heartbeat"),
    ],
)
def test_the_state_of_each_process_follows_from_its_heartbeats(
    beats: list[WorkerHeartbeat], expected: list[WorkerState]
) -> None:
    found = {each.worker_id: each.state for each in workers_of(beats, TAGS, NOW)}
    assert [found[name] for name in sorted(found)] == expected


def test_a_process_is_one_worker_with_all_its_queues() -> None:
    [worker] = workers_of([beat(1, queue="docrail.database"), beat(2)], TAGS, NOW)
    assert [(each.queue, each.tag) for each in worker.queues] == [("docrail", None), ("docrail.database", "database")]
    assert worker.last_heartbeat == NOW - dt.timedelta(seconds=1)
