"""Define how callers address a run: its argument, ids, messages, errors and search attributes."""

import hashlib
import re
from operator import not_

from pydantic import BaseModel, Field
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from docrail.dag.engine.events import ChunkItem
from docrail.dag.engine.state import ItemEnd
from docrail.dag.language.statuses import RunStatus
from docrail.dag.language.step_kinds import Nested
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import Callback

WORKFLOW_TYPE = "Run"

CHUNK_TYPE = "Chunk"
"""The workflow that runs a chunk of a long list for a run."""

CHUNK_THINNED, WIDEN = "chunk_thinned", "widen"
"""Signals of a chunk to its run (step id, position of its first item, items running, completed and failed), and back
(how many items may run at once from now on)."""

PAUSE, RESUME, ABORT = "pause", "resume", "abort"
"""Names of the updates (they reply, and refuse in a wrong state) and of the signals (they wait for a worker)."""

ANSWER = "answer"
"""Name of the update, and of the signal, that answers a waiting step: step id, answer, principal."""

BY_DOCUMENT, BY_DECISION = "document-", "decision-"
"""Prefixes of the update ids that the review queue uses: for a document's decision, and for a step's own item."""

RESOLVE = "resolve"
"""Name of the update that resolves a parked step: step id, `retry` | `skip` | `output`, value, principal."""

STATE = "state"
"""Name of the query that returns a RunReport."""

OUTPUT = "output"
"""Name of the query that returns one step's output, also if a report omits the outputs."""

EXPLAIN = "explain"
"""Name of the query that explains: a step id or None for a page, the step before the page or None, and its size."""

EXPLAIN_ALL = "explain_all"
"""Name of the query that explains all steps after one, or None, in one packed answer."""

PROGRESS = "progress"
"""Name of the query that returns a RunProgress: every step's state in few words, without default values."""

STEP_INPUT = "step_input"
"""Name of the query that returns a StepInput: a step id, and the key of an item of its list or None."""

STEP_ITEMS = "step_items"
"""Name of the query that returns an ItemsProgress: a step id, a status or None, the position before, the size."""

SAVED = "saved"
"""Name of the query that returns the whole state (saved_state.save), for a retry to continue from, or the requested
piece with the number of pieces. A state that is too large is refused whole."""

OPEN_REVIEW, ESCALATE_REVIEW, CLOSE_REVIEW = "open_review", "escalate_review", "close_review"

RECORD_DECISION = "record_decision"
"""Activities of a human step. They are not in the catalogue: no definition names them."""

RECORD_DEAD_LETTER = "record_dead_letter"
"""Activity that records a failed step, and how its failure was resolved, in the dead-letter table."""

RECORD_OVERDUE = "record_overdue"
"""Activity that notifies people of a run that has not ended within its deadline."""

STORE_VALUE, LOAD_VALUES = "store_value", "load_values"
"""Activities that store values too large for a run's data, and load the parts that expressions read."""

LOAD_STATE = "load_state"
"""Activity that loads a piece of the state from which a retried run continues."""

WRONG_STATE = "WrongState"
"""ApplicationError type of a refused update; details[0] is the run's status."""

UNKNOWN_STEP = "UnknownStep"
"""ApplicationError type of an answer to a step that the run does not have, or that takes no answers."""

INVALID_VALUE = "InvalidValue"
"""ApplicationError type of an answer that its step does not accept; details[0] lists the problems."""

NOT_ALLOWED = "NotAllowed"
"""ApplicationError type of a decision by a person whom the step does not accept; the message says why."""

RUN_FAILED = "RunFailed"
"""ApplicationError type of a failed run; details[0] is its RunReport."""

TENANT = SearchAttributeKey.for_keyword("DocrailTenant")

DEFINITION = SearchAttributeKey.for_keyword("DocrailDefinition")

DOCUMENT = SearchAttributeKey.for_keyword("DocrailDocument")

STATUS = SearchAttributeKey.for_keyword("DocrailStatus")
"""Set only if Temporal's own status does not show it: `paused` while paused (else `running`), `aborted` at the end."""

OVERDUE = SearchAttributeKey.for_keyword("DocrailOverdue")
"""`true` if the run had not ended when its deadline passed; otherwise not set."""

KEY = SearchAttributeKey.for_keyword("DocrailKey")
"""Id of the API key that caused the run, for that key's quota of open runs; not set if none did."""

_PLAIN_KEY = r"[A-Za-z0-9_.:-]{1,31}"
"""Item keys that can be part of an id unchanged; a digest is longer than any of them, so the two cannot collide."""

SEARCH_ATTRIBUTES = (TENANT, DEFINITION, DOCUMENT, STATUS, OVERDUE, KEY)
"""Search attributes that a namespace must have before runs can be started in it."""


class Pinned(BaseModel, frozen=True):
    """One version of a definition, as a run follows it."""

    definition: dict[str, Json]
    """A dag.language.definition.Definition as JSON, with all defaults."""
    version: int
    digest: str


class RunRequest(BaseModel, frozen=True):
    """Everything a run needs, pinned: later changes to a definition or to settings do not affect it."""

    tenant_id: str
    run_id: str
    definition: dict[str, Json]
    """A dag.language.definition.Definition as JSON, with all defaults."""
    version: int
    digest: str
    inputs: dict[str, Json]
    document: dict[str, Json] | None = None
    nested: dict[str, Pinned] = Field(default_factory=dict)
    """The definitions of all nested runs at any depth, by `nested_key`."""
    resumed: dict[str, Json] | None = None
    """A rewound state to continue from (engine/retry.py) instead of a new one; or its placeholder
    (engine/saved_state.py), if it is too large to send."""
    resumed_inner: dict[str, dict[str, Json]] = Field(default_factory=dict)
    """The same for nested runs, by run id: they continue from there if their inputs are unchanged."""
    started_by: str = ""
    """The principal who started the run, or the outermost of the runs around it; empty: unknown."""
    started_key_known_to: tuple[str, ...] = ()
    """Who else knows a key of `started_by`: where two people must act, they are one."""
    rerun_by: tuple[str, ...] = ()
    """Who ran it again with other inputs, and who knows a key of theirs: they count as whoever started it."""
    key_id: str | None = Field(None, exclude_if=not_)
    """The API key that caused this run, or the outermost of the runs around it, and whose quotas it uses."""
    callbacks: tuple[Callback, ...] = ()
    """The callback URLs of the outer runs, which this run's inputs may use."""
    semantics: int
    """The version of its scheduler's decisions: engine.plan.SEMANTICS of the build that started it."""
    inline_bytes: int | None = None
    """Largest outputs that the outer run accepts inline, in bytes of JSON; None: there is no outer run."""
    highest_priority: int = 1
    """The most urgent priority that its steps may have: its tenant's quota when it was started. 1 is the highest."""
    light: tuple[str, ...] = ()
    """Handlers whose calls are grouped, pinned: another build may have others."""

    @property
    def starters(self) -> tuple[str, ...]:
        """Return the names of whoever started the run, first `started_by`."""
        return (self.started_by, *self.started_key_known_to, *self.rerun_by)


def attributes_of(request: RunRequest) -> TypedSearchAttributes:
    """Return the search attributes with which a run's workflow starts."""
    pairs = [SearchAttributePair(TENANT, request.tenant_id), SearchAttributePair(DEFINITION, request.definition["id"])]
    if request.document is not None:
        pairs.append(SearchAttributePair(DOCUMENT, request.document["document_id"]))
    if request.key_id is not None:
        pairs.append(SearchAttributePair(KEY, request.key_id))
    return TypedSearchAttributes(pairs)


class ChunkRequest(BaseModel, frozen=True):
    """What a chunk of a long list needs: its run's request, with only the step of the definition."""

    run: RunRequest
    step_id: str
    items: tuple[ChunkItem, ...]
    width: int
    stop_after: int | None
    inline_bytes: int


DOCUMENT_CHUNK_TYPE = "DocumentChunk"
"""The workflow that interprets the runs of several documents of a batch."""

RUN_GROUP = "run_group"
"""Activity that makes the calls of a group. It is not in the catalogue: no definition names it."""

GROUPED = ","
"""Separates the calls in the id of a group's activity, in a workflow with one run."""

LEAVE = "leave"
"""Name of a chunk's update: a run id. The run goes no further in the chunk; returns when none of its work runs."""

CHUNKED_ENDS = "ends"
"""Name of a chunk's query without arguments. Returns a DocumentChunkReport of the runs that have ended or left."""


RECORD_ENDS = "record_ends"
"""Activity that records how runs have ended in their chunk. No definition names it."""


class ChunkedRun(BaseModel, frozen=True):
    """A run of a chunk, as far as it differs from the others."""

    run_id: str
    inputs: dict[str, Json]
    document: dict[str, Json]
    started_by: str = ""
    started_key_known_to: tuple[str, ...] = ()
    key_id: str | None = None
    memo: dict[str, Json] = Field(default_factory=dict)
    """That of its own workflow, if it moves to one."""


class DocumentChunkRequest(BaseModel, frozen=True):
    """The runs of a chunk, and what they have in common."""

    tenant_id: str
    definition: dict[str, Json]
    version: int
    digest: str
    semantics: int
    highest_priority: int = 1
    light: tuple[str, ...]
    runs: tuple[ChunkedRun, ...]
    records_ends: bool = Field(default=False, exclude_if=not_)
    """Whether the chunk records the ends of its runs itself: a batch records those of its documents."""

    def request_of(self, run: ChunkedRun) -> RunRequest:
        """Return the request of one of the runs, as if it were alone."""
        return RunRequest(
            tenant_id=self.tenant_id,
            run_id=run.run_id,
            definition=self.definition,
            version=self.version,
            digest=self.digest,
            inputs=run.inputs,
            document=run.document,
            started_by=run.started_by,
            started_key_known_to=run.started_key_known_to,
            key_id=run.key_id,
            semantics=self.semantics,
            highest_priority=self.highest_priority,
            light=self.light,
        )


class ChunkedEnd(BaseModel, frozen=True):
    """How a run ended in its chunk. `status` is None if it has left: it goes on in a workflow of its own."""

    run_id: str
    status: RunStatus | None
    reason: str = ""
    outputs: dict[str, Json] | None = None
    """Unless they are larger than MAX_CHUNKED_OUTPUTS."""


MAX_CHUNKED_OUTPUTS = 16_384
"""Largest outputs, in bytes of JSON, that a chunk's report contains."""


class DocumentChunkReport(BaseModel, frozen=True):
    """How the runs of a chunk ended, in its order."""

    ends: tuple[ChunkedEnd, ...]


def document_chunk_id(tenant_id: str, chunk_id: str) -> str:
    """Return the Temporal workflow id of a chunk of documents; no run can have it."""
    return f"docrail-chunk.{tenant_id}.{chunk_id}"


class ChunkReport(BaseModel, frozen=True):
    """How a chunk's items ended, in its order."""

    ends: tuple[ItemEnd, ...]


VERSION_PREFIX = "docrail "
"""Begins the name of a worker's plugin; Docrail's version follows. Heartbeats carry it."""


def tag_queue(task_queue: str, tag: str) -> str:
    """Return the task queue of the steps with that resource tag, derived from the runs' own `task_queue`."""
    return f"{task_queue}.{tag}"


def batch_queue(task_queue: str) -> str:
    """Return the task queue of the activities that keep batches going, derived from the runs' own `task_queue`.

    Such an activity lasts for minutes: on a queue of their own, batches take no place from steps.
    """
    return f"{task_queue}:batches"


def nested_key(nested: Nested) -> str:
    """Return the name under which a nested step's definition is pinned in its run's request."""
    return nested.id if nested.version is None else f"{nested.id}@{nested.version}"


def child_run_id(run_id: str, step_id: str, item_key: str | None = None) -> str:
    """Return the public id of the run that a step, or one of its items, starts: the same on every attempt."""
    if item_key is None:
        return f"{run_id}~{step_id}"
    name = item_key if re.fullmatch(_PLAIN_KEY, item_key) else hashlib.sha256(item_key.encode()).hexdigest()[:32]
    return f"{run_id}~{step_id}~{name}"


def workflow_id(tenant_id: str, run_id: str) -> str:
    """Return the Temporal workflow id of a run: `tenant/definition/key`."""
    definition_id, _, key = run_id.partition(".")
    return f"{tenant_id}/{definition_id}/{key}"


def tenant_of(workflow_id: str) -> str:
    """Return the tenant of a Temporal workflow id."""
    return workflow_id.partition("/")[0]


def run_id_of(workflow_id: str) -> str:
    """Return the public run id, `definition.key`, of a Temporal workflow id."""
    _, definition_id, key = workflow_id.split("/", 2)
    return f"{definition_id}.{key}"


def chunk_workflow_id(tenant_id: str, run_id: str, step_id: str, first: int) -> str:
    """Return the Temporal workflow id of a chunk of a step's list; `first` is the position of its first item."""
    return f"{workflow_id(tenant_id, child_run_id(run_id, step_id))}~~{first}"


def outer_run_id(parent_workflow_id: str) -> str:
    """Return the id of the run that a nested run belongs to: its parent in Temporal, or that of its chunk."""
    around, mark, _ = run_id_of(parent_workflow_id).rpartition("~~")
    return around.rpartition("~")[0] if mark else run_id_of(parent_workflow_id)


MAINTENANCE_TYPE = "Maintenance"

MAINTENANCE_FAILED = "MaintenanceFailed"
"""ApplicationError type of an incomplete round; details[0] is its MaintenanceReport."""

SLA_TYPE = "SlaWatch"

NOTIFY_SLA = "notify_sla"
"""The activity. It is not in the catalogue: no definition names it."""

BACKGROUND_TYPE = "BackgroundTasks"

START_DOCUMENTS, ANSWER_RUNS, FILE_REVIEWED = "start_waiting_documents", "answer_waiting_runs", "file_reviewed"
START_EXPORTS, FORGET_EVENTS, NOTE_ENDS = "start_waiting_exports", "forget_events", "note_ended_documents"
KEEP_METRICS = "keep_metrics"
"""The activities. No definition names them. Each is bounded in time and safe to repeat."""

TRIGGER_TYPE = "Trigger"

FIRE_TRIGGER = "fire_trigger"
"""The activity. No definition names it."""


def trigger_id(task_queue: str, tenant_id: str, name: str) -> str:
    """Return the id of a trigger's schedule; the ids of its workflows begin with it. No run can have it."""
    return f"docrail-trigger.{task_queue}.{tenant_id}.{name}"


BATCH_TYPE = "Batch"

CHANGED = "changed"
"""Name of a batch's signal: what people want of it has changed. Its argument says how, for those who read histories."""

START_BATCHES, KEEP_WINDOW = "start_waiting_batches", "keep_window"
COPY_ENDED_RUNS = "copy_ended_runs"
NOTIFY_BATCH, FAIL_BATCH_WEBHOOK = "notify_batch", "fail_batch_webhook"
"""The activities. No definition names them."""


def batch_workflow_id(tenant_id: str, batch_id: str) -> str:
    """Return the Temporal workflow id of a batch; no run can have it."""
    return f"docrail-batch.{tenant_id}.{batch_id}"


EXPORT_TYPE = "Export"

MAKE_EXPORT, SEND_EXPORT, FAIL_EXPORT = "make_export", "send_export", "fail_export"
"""The activities. No definition names them."""


def export_workflow_id(tenant_id: str, export_id: str) -> str:
    """Return the Temporal workflow id of an export; no run can have it."""
    return f"docrail-export.{tenant_id}.{export_id}"
