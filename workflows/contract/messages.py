"""Define the messages between workflows and activities: the arguments and results of their calls.

Includes handlers, internal activities and the maintenance workflow.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from operator import eq, not_
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from docrail.dag.engine.state import EarlierError
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import MAX_INLINE_BYTES, Piece

WORKER_STOPPED = "WorkerShutdown"
"""Error type of an attempt that was running when its worker's grace period ended, also in Temporal's own core."""


class Callback(BaseModel, frozen=True):
    """A URL that a config uses: a POST to it answers a waiting step."""

    placeholder: str
    """The URL's placeholder wherever it may be stored. It has a random part, which no document can know."""
    run_id: str
    step_id: str
    timeout_seconds: float | None
    """How long the step waits; None: until it is answered."""


class CacheUse(BaseModel, frozen=True):
    """The cache entry that an attempt looks up before it runs its handler, and stores its output under."""

    key: str
    """Equal for equal work of a tenant (dispatch.cache_key_of)."""
    ttl_seconds: float


def _unless(default: Any) -> Any:
    """Return a field that is omitted from the JSON if it has its default: a run's history has one call per step."""
    return Field(default, exclude_if=partial(eq, default))


class RunEnds(BaseModel, frozen=True):
    """How runs have ended in their chunk, by run id."""

    tenant_id: str
    ends: dict[str, RunStatus]


class AttemptRequest(BaseModel, frozen=True):
    """The argument of one attempt. `(run_id, step_id, item_key)` is the identity for a handler's idempotency."""

    tenant_id: str
    run_id: str
    step_id: str
    item_key: str | None = _unless(None)
    """The item, if the step runs over a list."""
    config: dict[str, Json]
    jitter: float
    """Largest random part added to the delay before a retry, as a share of that delay."""
    failed_before: int = _unless(0)
    """Failed attempts in earlier activities of the step, whose workers were lost; this attempt continues the count."""
    elsewhere: bool = _unless(False)
    """Whether the worker of an earlier activity lacked something: this one must not go directly to the run's worker."""
    honor_retry_after: bool = _unless(True)
    secrets: tuple[str, ...] = _unless(())
    """Names of the secrets that the definition's author wrote into the config: no others may be resolved, whatever
    values were filled in."""
    callbacks: tuple[Callback, ...] = _unless(())
    """The URLs that `config` uses. Only the attempt itself creates them, so that no history contains one."""
    inline_bytes: int = _unless(MAX_INLINE_BYTES)
    """Largest output returned inline, in bytes of JSON; a larger one is stored, and its placeholder is returned."""
    cache: CacheUse | None = _unless(None)
    """None: the handler runs, and its output is not cached."""
    key_id: str | None = Field(None, exclude_if=not_)
    """The API key that caused the run."""
    is_one_of_many: bool = _unless(False)
    """Whether its run has started many calls at once: those that end at about the same time are reported together."""


class StepOutcome(BaseModel, frozen=True):
    """The result of a successful attempt: the handler's output, and the number of the attempt (from 1)."""

    output: Json
    attempt: int
    cached: bool = _unless(False)
    """Whether the output came from the cache and no handler ran."""
    earlier: tuple[EarlierError, ...] = _unless(())
    """How attempts before it failed, as far as that is known; the latest last."""


class HandlerCalls(BaseModel, frozen=True):
    """Calls of one handler at the same step."""

    handler: str
    calls: tuple[AttemptRequest, ...]
    seconds: float
    """Longest duration of one call. One that takes longer is not made by the group."""


class GroupCall(BaseModel, frozen=True):
    """Attempts at steps, of one run or of several, made in one activity: each for itself, under its own identity."""

    tenant_id: str
    parts: tuple[HandlerCalls, ...]


class CallFailure(BaseModel, frozen=True):
    """How a call of a group failed, as the wrapper reports it."""

    type: str
    message: str
    retryable: bool
    retry_seconds: float = 0.0
    """The delay before the next attempt."""


class CallEnd(BaseModel, frozen=True):
    """How a call of a group ended. Neither an outcome nor a failure: it is made alone, as if for the first time."""

    outcome: StepOutcome | None = _unless(None)
    failure: CallFailure | None = _unless(None)


class GroupReport(BaseModel, frozen=True):
    """How the calls of a group ended, in the order of its parts."""

    ends: tuple[CallEnd, ...]


EARLIER_ERRORS = TypeAdapter(tuple[EarlierError, ...])
"""What a failed attempt reports about earlier ones, as JSON."""


def errors_left(heartbeat: Sequence[object]) -> tuple[EarlierError, ...]:
    """Return the errors in an attempt's last heartbeat; a handler's own heartbeat has none."""
    match heartbeat:
        case [int(), list(errors), *_]:
            try:
                return EARLIER_ERRORS.validate_python(errors)
            except ValidationError:
                return ()
        case _:
            return ()


class StoreCall(BaseModel, frozen=True):
    """A value to store; its placeholder (dag/values/stored.py) is returned."""

    tenant_id: str
    value: Json


class LoadCall(BaseModel, frozen=True):
    """Stored values, or parts of them, that expressions read, as JSON placeholders (dag/values/stored.py)."""

    tenant_id: str
    parts: tuple[dict[str, Json], ...]
    may_stay: tuple[int, ...] = ()
    """Numbers of the parts that are returned as placeholders if they exceed MAX_INLINE_BYTES."""


class StateCall(BaseModel, frozen=True):
    """A piece of a saved state from which a run continues, as a JSON placeholder (dag/values/stored.py).

    The piece is returned as it was stored, with the placeholders in it.
    """

    tenant_id: str
    piece: dict[str, Json]


class Loaded(BaseModel, frozen=True):
    """The parts of a LoadCall, in its order, without placeholders in their values."""

    parts: tuple[Piece, ...]


class ReviewCall(BaseModel, frozen=True):
    """A human step's question, and the people it is for. `(run_id, step_id)` is the item's identity."""

    tenant_id: str
    run_id: str
    step_id: str
    document_id: str | None
    queue: str
    title: str
    form: dict[str, Json]
    """JSON Schema of a decision."""
    show: dict[str, Json]
    priority: float
    due_at: float | None
    """When the step times out, in seconds since the epoch; None: never."""
    group: str | None = None
    """The group of people that it is for."""
    may_not_decide: tuple[str, ...] = ()
    """Names of principals whose decision the step does not accept."""
    approvals: int = _unless(1)
    """How many people must make the same decision."""
    asked_at: float = 0.0
    """When the step began to wait, in seconds since the epoch: a retried step asks again."""


class DecisionCall(BaseModel, frozen=True):
    """One of several people's decisions. `(run_id, step_id, asked_at, number)` is its identity."""

    tenant_id: str
    run_id: str
    step_id: str
    by: str
    decision: Json
    number: int
    """Number among all decisions on this item, from 1."""
    decided_at: float
    """Seconds since the epoch."""
    asked_at: float
    """As in the ReviewCall."""
    known_to: str = ""
    """Whoever else knows the key of `by`, and counts as the same person."""


class ReviewEnd(BaseModel, frozen=True):
    """How a human step ended: its item leaves the queue."""

    tenant_id: str
    run_id: str
    step_id: str
    status: StepStatus
    decision: Json = None
    decided_by: str = ""
    asked_at: float = 0.0
    """As in the ReviewCall that this ends."""


class DeadLetter(BaseModel, frozen=True):
    """A step that failed permanently, or how its failure was resolved. `(run_id, step_id)` is its identity."""

    tenant_id: str
    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    status: StepStatus
    """PARKED: the run waits for a person; FAILED: it continued without the step; all else: the failure is resolved."""
    error_type: str = ""
    error_message: str = ""
    retryable: bool = False
    """Whether the error was retryable: it may pass by itself, where others need a person."""
    attempts: int = 0
    failed_at: float | None = None
    """Seconds since the epoch."""
    resolved_by: str = ""


class OverdueRun(BaseModel, frozen=True):
    """A run that has not ended within its definition's deadline. `(run_id, started_at)` is its identity.

    Times are seconds since the epoch. A retried run is a new one, with a new deadline.
    """

    tenant_id: str
    run_id: str
    definition_id: str
    version: int
    document_id: str | None
    started_at: float
    deadline_seconds: float


class Compacted(BaseModel, frozen=True):
    """The result of a compaction: small files merged, parts written, their rows and bytes."""

    files: int = 0
    parts: int = 0
    rows: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Compacted") -> "Compacted":
        """Return the sum of both."""
        return Compacted(
            files=self.files + other.files,
            parts=self.parts + other.parts,
            rows=self.rows + other.rows,
            size_bytes=self.size_bytes + other.size_bytes,
        )


class LookedAfter(BaseModel, frozen=True):
    """The result for one tenant's lake."""

    compacted: Compacted = Compacted()
    removed: int = 0
    """Files that are no longer needed."""


class MaintenanceReport(BaseModel, frozen=True):
    """The result of a whole round, also passed on to its continuation."""

    tenants: int = 0
    compacted: Compacted = Compacted()
    removed_files: int = 0
    removed_values: int = 0
    removed_originals: int = 0
    removed_rows: int = 0
    failed: tuple[str, ...] = ()
    """Parts of this round that failed; the next one tries them again."""


class MaintenanceRequest(BaseModel, frozen=True):
    """Where a round begins: at the first tenant, or where an earlier history became too long."""

    after_tenant: str | None = None
    so_far: MaintenanceReport = MaintenanceReport()


class TriggerRequest(BaseModel, frozen=True):
    """Says what a trigger does, as it was ordered (services/triggers/models.py), and who ordered it."""

    tenant_id: str
    created_by: str
    key_id: str | None = None
    """The API key that ordered it: what it starts uses that key's quotas."""
    order: dict[str, Json]


class TriggerPass(BaseModel, frozen=True):
    """One pass of a trigger. `moment` identifies it: a repeated attempt starts nothing twice."""

    request: TriggerRequest
    moment: str


class TriggerReport(BaseModel, frozen=True):
    """What a pass has found: runs and documents, of which some may have been known, and what was refused, with why."""

    run_ids: tuple[str, ...] = ()
    uploaded: int = 0
    known: int = 0
    refused: tuple[str, ...] = ()


class ExportRequest(BaseModel, frozen=True):
    """Names an export that is to be made, and sent if it is for a webhook."""

    tenant_id: str
    export_id: str


class ExportFailure(BaseModel, frozen=True):
    """Says why an export cannot be made or sent."""

    tenant_id: str
    export_id: str
    error: str


class BatchRequest(BaseModel, frozen=True):
    """Names a batch. Its row says what people want of it, and its documents how they stand."""

    tenant_id: str
    batch_id: str
    most_rounds: int = 500
    """Activities after which its workflow continues as a new one."""


class BatchRest(StrEnum):
    """Why a window is left. MORE: for a new round; IDLE: nothing can start; OVER: the batch has completed."""

    MORE = "more"
    IDLE = "idle"
    OVER = "over"


class BatchRound(BaseModel, frozen=True):
    """What one activity of a batch leaves."""

    rest: BatchRest
    seconds: float | None = None
    """While idle: when it must be looked at without a signal, for its deadline."""
    has_webhook: bool = False


class BatchWebhookFailure(BaseModel, frozen=True):
    """Says why the message of a completion cannot be delivered."""

    tenant_id: str
    batch_id: str
    error: str
