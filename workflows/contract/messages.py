"""What crosses between the interpreter and a handler: one call in, one outcome back.

What the workflow that looks after the files asks of its activities, and what they answer.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from docrail.dag.engine.state import EarlierError
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import MAX_INLINE_BYTES, Piece

WORKER_STOPPED = "WorkerShutdown"
"""Error type of an attempt that was running when its worker's grace time ended, also in Temporal's own core."""


class Callback(BaseModel):
    """A URL that a config asks for: whoever posts to it answers a waiting step."""

    model_config = ConfigDict(frozen=True)

    placeholder: str
    """What stands for the URL wherever it may be kept. It has a random part, which no document can know."""
    run_id: str
    step_id: str
    timeout_seconds: float | None
    """How long the step waits; None: until it is answered."""


class CacheUse(BaseModel):
    """What a cached step's attempt looks for before it runs its handler, and keeps its output under."""

    model_config = ConfigDict(frozen=True)

    key: str
    """Of a tenant, equal work has an equal key (dag.engine.dispatch)."""
    ttl_seconds: float


def _unless(default: Any) -> Any:
    """Return a field that is left out of the JSON where it says nothing new: a run's history has one call a step."""
    return Field(default, exclude_if=lambda value: value == default)


class AttemptRequest(BaseModel):
    """One attempt's argument. `(run_id, step_id, item_key)` is the identity under which a handler is idempotent."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    step_id: str
    item_key: str | None = _unless(None)
    """Which item, where the step runs over a list."""
    config: dict[str, Json]
    jitter: float
    """Largest random part that is added to the delay before a retry, as a share of that delay."""
    failed_before: int = _unless(0)
    """Attempts that failed in earlier activities of the step, whose workers were lost: this one's follow them."""
    honor_retry_after: bool = _unless(True)
    secrets: tuple[str, ...] = _unless(())
    """Names of the secrets that the definition's author wrote into the config: no other may be resolved, whatever
    values were filled in."""
    callbacks: tuple[Callback, ...] = _unless(())
    """The URLs that `config` asks for. Only the attempt itself makes them, so that no history holds one."""
    inline_bytes: int = _unless(MAX_INLINE_BYTES)
    """Largest output, as JSON, that comes back as it is; a larger one is stored, and what stands for it comes back."""
    cache: CacheUse | None = _unless(None)
    """None: the handler runs, and its output is not kept for others."""


class StepOutcome(BaseModel):
    """What a successful attempt reports: the handler's output, and which attempt (from 1) made it."""

    model_config = ConfigDict(frozen=True)

    output: Json
    attempt: int
    cached: bool = _unless(False)
    """Whether it is the output of earlier equal work, and no handler ran."""
    earlier: tuple[EarlierError, ...] = _unless(())
    """How attempts before it failed, as far as that is known; the latest last."""


EARLIER_ERRORS = TypeAdapter(tuple[EarlierError, ...])
"""What a failed attempt tells the run of those before it, as JSON."""


def errors_left(heartbeat: Sequence[object]) -> tuple[EarlierError, ...]:
    """Return the errors that an attempt's last heartbeat left to the next one; a handler's own has none to tell."""
    match heartbeat:
        case [int(), list(told), *_]:
            try:
                return EARLIER_ERRORS.validate_python(told)
            except ValidationError:
                return ()
        case _:
            return ()


class StoreCall(BaseModel):
    """A value to be kept in the value store; what stands for it (dag.values.stored) comes back."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    value: Json


class LoadCall(BaseModel):
    """Stored values, or parts of them, that expressions want to read: their marks (dag.values.stored), as JSON."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    parts: tuple[dict[str, Json], ...]
    may_stay: tuple[int, ...] = ()
    """Of which parts, by number, what stands for them is brought where they are larger than MAX_INLINE_BYTES."""


class StateCall(BaseModel):
    """A piece of a saved state that a run goes on from: what stands for it (dag.values.stored), as JSON.

    The piece comes back as it was kept: what stands for stored values in it stays.
    """

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    piece: dict[str, Json]


class Loaded(BaseModel):
    """What became of a LoadCall's parts, in its order; none in their values is stored any more."""

    model_config = ConfigDict(frozen=True)

    parts: tuple[Piece, ...]


class ReviewCall(BaseModel):
    """What a human step asks, and of whom. `(run_id, step_id)` is the item's identity."""

    model_config = ConfigDict(frozen=True)

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
    """When the step's time is up, in seconds since the epoch; None: never."""
    group: str | None = None
    """The people that it is for."""
    may_not_decide: tuple[str, ...] = ()
    """Names of principals whose decision the step does not take."""
    approvals: int = _unless(1)
    """How many people must decide alike."""
    asked_at: float = 0.0
    """When the step began to wait, in seconds since the epoch: a step that is tried again asks anew."""


class DecisionCall(BaseModel):
    """What one of several people who must agree decided. `(run_id, step_id, asked_at, number)` is its identity."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    step_id: str
    by: str
    decision: Json
    number: int
    """Of all decisions of this asking, from 1."""
    decided_at: float
    """Seconds since the epoch."""
    asked_at: float
    """As of the ReviewCall."""


class ReviewEnd(BaseModel):
    """How a human step ended: its item leaves the queue."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    step_id: str
    status: StepStatus
    decision: Json = None
    decided_by: str = ""
    asked_at: float = 0.0
    """As of the ReviewCall that this is the end of."""


class DeadLetter(BaseModel):
    """A step that failed for good, or what became of its failure. `(run_id, step_id)` is its identity."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    status: StepStatus
    """PARKED: the run waits for a person; FAILED: it went on without; all else: the failure is dealt with."""
    error_type: str = ""
    error_message: str = ""
    retryable: bool = False
    """Whether the error was of a class that is tried again: it may pass by itself, where others need a person."""
    attempts: int = 0
    failed_at: float | None = None
    """Seconds since the epoch."""
    resolved_by: str = ""


class OverdueRun(BaseModel):
    """A run that has not ended within its definition's deadline. `(run_id, started_at)` is its identity.

    Times are seconds since the epoch. A run that was retried is another one: it began anew, and so did its deadline.
    """

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    definition_id: str
    version: int
    document_id: str | None
    started_at: float
    deadline_seconds: float


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Compacted(_Model):
    """What a compaction did: small files merged, parts written, their rows and bytes."""

    files: int = 0
    parts: int = 0
    rows: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Compacted") -> "Compacted":
        """Return what both did."""
        return Compacted(
            files=self.files + other.files,
            parts=self.parts + other.parts,
            rows=self.rows + other.rows,
            size_bytes=self.size_bytes + other.size_bytes,
        )


class LookedAfter(_Model):
    """What was done to one tenant's lake."""

    compacted: Compacted = Compacted()
    removed: int = 0
    """Files that nobody needs any more."""


class MaintenanceReport(_Model):
    """What a whole round did; it is also what a round hands on to its continuation."""

    tenants: int = 0
    compacted: Compacted = Compacted()
    removed_files: int = 0
    removed_values: int = 0
    removed_originals: int = 0
    failed: tuple[str, ...] = ()
    """What could not be done in this round: the next one tries it again."""


class MaintenanceRequest(_Model):
    """Where a round begins: at once, or where the history of an earlier one became too long."""

    after_tenant: str | None = None
    so_far: MaintenanceReport = MaintenanceReport()
