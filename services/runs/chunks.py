"""Start the runs of several documents in one workflow.

The rows come first: they say which runs a chunk has, so that a start that was cut off is repeated with the same runs,
and no run is in two chunks.
"""

import contextlib
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import to_json
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from docrail.adapters.postgres.pool import transaction
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.language.definition import Definition, OnFailure, Step
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json, size_of
from docrail.services.access.models import Principal
from docrail.services.access.service import list_known_to
from docrail.services.app import App
from docrail.services.definitions.checks import check_inputs
from docrail.services.definitions.handlers import light_handlers
from docrail.services.definitions.models import StoredDefinition
from docrail.services.definitions.service import load
from docrail.services.documents.context import context_of
from docrail.services.documents.models import Document
from docrail.services.documents.service import load_documents, mark_ended
from docrail.services.engine import MAX_REQUEST_BYTES, RPC_TIMEOUT, engine_errors
from docrail.services.errors import InvalidInput, NotFound, OperationError, Unavailable
from docrail.services.limits.service import check_tags
from docrail.services.runs.models import StoredChunkedRun
from docrail.services.runs.priority import priority_key_of, turn_of
from docrail.services.runs.repository import (
    end_chunked,
    insert_chunked,
    list_chunked,
    load_chunk,
    mark_moved,
    settle_alone,
)
from docrail.services.runs.service import memo_of
from docrail.workflows.contract.names import (
    DEFINITION,
    DOCUMENT_CHUNK_TYPE,
    TENANT,
    ChunkedRun,
    DocumentChunkRequest,
    document_chunk_id,
)

MOST_RUNS = 20
"""Runs of a chunk: more cost little less each, and their history becomes long."""

MOST_STEPS, MOST_DEFINITION_BYTES = 50, 200_000
"""Of a definition whose runs share a workflow: their histories add up."""

log = logging.getLogger(__name__)

InputsOf = Callable[[Document, StoredDefinition], Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document, and the version that its first run follows."""

    document: Document
    stored: StoredDefinition

    @property
    def run_id(self) -> str:
        """Return the id of the run."""
        return f"{self.stored.definition_id}.{self.document.document_id}"


def may_share(body: dict[str, Json], *, keeps_turns: bool = False) -> bool:
    """Return whether runs of the definition may share a workflow: none waits, nests, has lists or undoes anything.

    `keeps_turns`: whether each must have the turn that the definition's `fairness_key` gives it.
    """
    definition = Definition.model_validate(body)
    if keeps_turns and definition.priority is not None and definition.priority.fairness_key is not None:
        return False
    is_small = len(definition.steps) <= MOST_STEPS and size_of(body) <= MOST_DEFINITION_BYTES
    is_calm = definition.on_failure is not OnFailure.PARK and definition.deadline_seconds is None
    return is_small and is_calm and all(map(_is_plain, definition.steps))


def _is_plain(step: Step) -> bool:
    kinds = (StepKind.HANDLER, StepKind.SWITCH, StepKind.ABORT)
    return step.kind in kinds and step.for_each is None and step.compensate is None


async def find_chunked(app: App, tenant_id: str, run_ids: Sequence[str]) -> list[StoredChunkedRun]:
    """Return the places of those of the runs that are or were in a chunk."""
    return await list_chunked(app.db, tenant_id, run_ids) if run_ids else []


async def is_settled_alone(app: App, wanted: Wanted) -> bool:
    """Return whether the run is in no chunk, and see to it that it never is: a chunk that comes later does without."""
    document = wanted.document
    run = (wanted.run_id, document.document_id, wanted.stored.version)
    place = await settle_alone(app.db, document.tenant_id, *run)
    return place is None or place.moved_at is not None


async def record_ends(app: App, tenant_id: str, ends: Mapping[str, RunStatus]) -> int:
    """Record how runs have ended in their chunks, where lists and the inbox look for it; return how many are new.

    Those that have left are not touched. Safe to repeat.
    """
    count = 0
    async with transaction(app.db) as tx:
        for status in sorted(set(ends.values())):
            ended = await end_chunked(tx, tenant_id, [run for run, end in ends.items() if end is status], status)
            await mark_ended(tx, ended, status)
            count += len(ended)
    return count


async def start_chunks(
    app: App,
    principal: Principal,
    wanted: Sequence[Wanted],
    left: Sequence[str],
    inputs_of: InputsOf,
    *,
    priority: int | None,
    most: int,
    records_ends: bool,
) -> list[StoredChunkedRun]:
    """Start first runs of documents, whose definitions `may_share`, in chunks of at most `most`; return where they are.

    `left`: runs of an attempt that was cut off, of which those in chunks are included. The runs of a chunk that cannot
    start are not, nor those that start alone elsewhere: each starts alone, which says why it cannot.
    `records_ends`: whether the chunks record the ends of their runs. Raises: Unavailable.
    """
    by_version: dict[str, list[Wanted]] = {}
    for each in wanted:
        by_version.setdefault(each.stored.digest, []).append(each)
    places = [place for some in by_version.values() for place in _places(some, min(most, MOST_RUNS))]
    if places:
        await insert_chunked(app.db, principal.tenant_id, places)
    known = await find_chunked(app, principal.tenant_id, [*(place.run_id for place in places), *left])
    found = [place for place in known if place.moved_at is None]
    refused = set[str]()
    for chunk_id in dict.fromkeys(place.chunk_id for place in found):
        try:
            await _start(app, principal, chunk_id, inputs_of, priority=priority, records_ends=records_ends)
        except Unavailable:
            raise
        except OperationError as error:
            if not await _has_started(app, principal.tenant_id, chunk_id):
                log.warning("the runs of chunk %s start alone: %s", chunk_id, error)
                refused.add(chunk_id)
    await mark_moved(app.db, principal.tenant_id, [each.run_id for each in found if each.chunk_id in refused])
    return [each for each in found if each.chunk_id not in refused]


async def _has_started(app: App, tenant_id: str, chunk_id: str) -> bool:
    """Return whether an attempt that was cut off has started the chunk. Raises: Unavailable."""
    try:
        with engine_errors("chunk", chunk_id):
            handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, chunk_id))
            await handle.describe(rpc_timeout=RPC_TIMEOUT)
    except NotFound:
        return False
    return True


def _places(wanted: Sequence[Wanted], most: int) -> list[StoredChunkedRun]:
    places = list[StoredChunkedRun]()
    for first in range(0, len(wanted), most):
        chunk_id = uuid.uuid4().hex
        places += [
            StoredChunkedRun(each.run_id, chunk_id, each.document.document_id, each.stored.version)
            for each in wanted[first : first + most]
        ]
    return places


async def _start(
    app: App, principal: Principal, chunk_id: str, inputs_of: InputsOf, *, priority: int | None, records_ends: bool
) -> None:
    """Start a chunk's workflow with the runs that its rows name."""
    tenant_id = principal.tenant_id
    rows = await load_chunk(app.db, tenant_id, chunk_id)
    stored = await load(app, principal, rows[0].run_id.partition(".")[0], rows[0].version)
    check_tags(app, [stored.body])
    highest = await app.quotas.highest_priority(app.db, tenant_id)
    runs = await _runs_of(app, stored, rows, inputs_of, priority=priority)
    request = DocumentChunkRequest(
        tenant_id=tenant_id,
        definition=stored.body,
        version=stored.version,
        digest=stored.digest,
        semantics=SEMANTICS,
        highest_priority=highest,
        light=light_handlers(app.catalogue, [stored.body]),
        runs=tuple(runs),
        records_ends=records_ends,
    )
    if len(to_json(request)) > MAX_REQUEST_BYTES:
        raise InvalidInput([InputProblem("inputs", "those of its documents together are too large for one workflow")])
    key = priority_key_of(Definition.model_validate(stored.body), priority, highest=highest)
    attributes = [SearchAttributePair(TENANT, tenant_id), SearchAttributePair(DEFINITION, stored.definition_id)]
    with engine_errors("chunk", chunk_id), contextlib.suppress(WorkflowAlreadyStartedError):
        await app.temporal.start_workflow(
            DOCUMENT_CHUNK_TYPE,
            request,
            id=document_chunk_id(tenant_id, chunk_id),
            task_queue=app.task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            search_attributes=TypedSearchAttributes(attributes),
            static_summary=f"{stored.body.get('title') or stored.definition_id}: {len(runs)} documents",
            priority=turn_of(tenant_id, priority_key=key),
            rpc_timeout=RPC_TIMEOUT,
        )


async def _runs_of(
    app: App, stored: StoredDefinition, rows: Sequence[StoredChunkedRun], inputs_of: InputsOf, *, priority: int | None
) -> list[ChunkedRun]:
    """Return the runs that the rows of a chunk name. Raises: InvalidInput."""
    tenant_id = stored.tenant_id
    known: dict[str, tuple[str, ...]] = {}
    documents = await load_documents(app.db, tenant_id, [row.document_id for row in rows])
    runs = list[ChunkedRun]()
    for row in rows:
        document = documents[row.document_id]  # none is ever deleted
        by = document.uploaded_by
        if by not in known:
            known[by] = tuple(await list_known_to(app.db, tenant_id, by))
        given = inputs_of(document, stored)
        runs.append(
            ChunkedRun(
                run_id=row.run_id,
                inputs=await check_inputs(app, stored.body, given),
                document=context_of(document),
                started_by=by,
                started_key_known_to=known[by],
                key_id=document.key_id,
                memo=memo_of(stored, given, pinned=False, priority=priority),
            )
        )
    return runs
