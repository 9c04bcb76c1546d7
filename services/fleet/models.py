"""Define what is shown about the fleet: its workers, and the task queues that they take their work from."""

import datetime as dt
from enum import StrEnum

from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.model_config import SHOWN


class WorkerState(StrEnum):
    """What a worker process does."""

    WORKING = "working"
    """It takes work."""
    DRAINING = "draining"
    """It finishes its work and takes no more."""
    SILENT = "silent"
    """It sends no heartbeats: it is frozen, was killed, or cannot reach Temporal."""


class TaskKind(StrEnum):
    """What waits in a task queue."""

    RUNS = "runs"
    """Runs whose next decision is due. It takes milliseconds."""
    STEPS = "steps"
    """Attempts of steps."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Slots:
    """How many tasks a worker handles at once."""

    used: int
    """Slots in use."""
    total: int | None
    """All slots; null if their number is not fixed."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class WorkerQueue:
    """A task queue of a worker."""

    queue: str
    """Name of the task queue."""
    tag: str | None
    """The resource tag of its steps; null for the queues of all others, and of batches."""
    runs: Slots | None
    """Slots for the decisions of runs; null if it takes steps only."""
    steps: Slots
    """Slots for steps."""
    done: int
    """Attempts of steps since the worker's start, failed ones included."""
    failed: int
    """Failed attempts of steps since then."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Worker:
    """A worker process, as its last heartbeat describes it."""

    worker_id: str
    """Id of the process; a restarted one has another."""
    host: str
    """Name of its machine or container."""
    process_id: str
    """Number of its process there."""
    state: WorkerState
    """What it does."""
    silent_seconds: float | None
    """How long ago a silent worker sent its last heartbeat; null for others."""
    since: dt.datetime
    """When it started."""
    last_heartbeat: dt.datetime
    """When it sent its last heartbeat, by its own clock."""
    version: str | None
    """Docrail's version; null if the worker does not send it."""
    build: str | None
    """Its build, as `DOCRAIL_BUILD_ID` names it; null if it is unversioned."""
    queues: list[WorkerQueue]
    """The task queues that it polls."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class QueueState:
    """What waits in a task queue, and who takes it."""

    queue: str
    """Name of the task queue."""
    tag: str | None
    """The resource tag of its steps; null for the queues of all others, and of batches."""
    tasks: TaskKind
    """What it holds: Temporal has a queue of each kind."""
    waiting: int
    """How many tasks wait for a worker or for a limit, about."""
    oldest_wait_seconds: float
    """How long the oldest of them has waited; 0 if none waits."""
    added_per_second: float
    """Tasks that arrive, over the last 30 seconds. Those that a worker hands to itself are not counted."""
    taken_per_second: float
    """Tasks that workers take from it, over the last 30 seconds."""
    workers: int
    """Working workers that poll it."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Fleet:
    """The workers and their task queues."""

    workers: list[Worker]
    """Working and draining workers, and those that fell silent within the last hour; in the order of their hosts."""
    queues: list[QueueState]
    """Every task queue that workers should poll."""
