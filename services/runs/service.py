"""Start runs, once per key however often requested, with their priority."""

import contextlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field
from pydantic_core import to_json
from temporalio.common import Priority, WorkflowIDReusePolicy

from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json, digest
from docrail.services.access.models import Principal
from docrail.services.access.service import list_known_to
from docrail.services.app import App
from docrail.services.definitions.checks import check_inputs
from docrail.services.definitions.handlers import light_handlers
from docrail.services.definitions.models import WITHOUT_VERSION, DefinitionRef, StoredDefinition, VersionNumber
from docrail.services.definitions.nested import pin_nested
from docrail.services.definitions.service import check, names_version, resolve
from docrail.services.documents.context import context_named, subject_of
from docrail.services.documents.service import DOCUMENT_ID_PATTERN, load_document, mark_read_again
from docrail.services.engine import MAX_REQUEST_BYTES
from docrail.services.errors import InvalidInput, KeyConflict, NotFound, QuotaExceeded
from docrail.services.limits.service import check_tags
from docrail.services.model_config import WHOLE, body
from docrail.services.runs.ended_runs import delete_ended_runs
from docrail.services.runs.executing import describe
from docrail.services.runs.explanations import delete_explanations
from docrail.services.runs.leaving import move_out
from docrail.services.runs.priority import priority_of, turn_of
from docrail.services.runs.repository import (
    delete_expired_outputs,
    forget_stored_outputs,
    insert_overdue,
    is_notified,
    list_actions,
    load_cached,
    lock_run,
    mark_notified,
    record_action,
    save_cached,
    settle_alone,
)
from docrail.services.runs.room import take_room
from docrail.services.runs.starting import start_workflow
from docrail.workflows.contract.names import RunRequest

__all__ = [
    "KEY_PATTERN",
    "RUN_ID_PATTERN",
    "RunOrder",
    "StartedRun",
    "begin_run",
    "checked_key",
    "checked_run_id",
    "confirm_run",
    "continue_run",
    "delete_ended_runs",
    "delete_expired_outputs",
    "delete_explanations",
    "forget_stored_outputs",
    "insert_overdue",
    "is_notified",
    "list_actions",
    "load_cached",
    "lock_run",
    "mark_notified",
    "priority_of",
    "record_action",
    "save_cached",
    "start_run",
    "turn_of",
]

KEY_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$"
"""An idempotency key is part of a run's id, so its characters need no quoting in a path or a query."""


RUN_ID_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,63}\.[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}(~[A-Za-z0-9_.:-]{1,64}){0,20}$"
"""`definition.key`; for a nested run, `~step` or `~step~item` is appended to its outer run's id."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """A run to start: `ID`, `ID@VERSION` or `ID@ALIAS`, or a whole definition, which is published first.

    Without a key every call starts a new run.
    """

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {"definition": "invoice", "inputs": {"document_id": "doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"}}, schema=WITHOUT_VERSION
    )

    definition: DefinitionRef
    version: VersionNumber | None = None
    """By default the version that the alias `stable` or `canary` names."""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    key: Annotated[str | None, Field(json_schema_extra={"pattern": KEY_PATTERN})] = None
    """As the header Idempotency-Key."""
    priority: Annotated[int, Field(strict=True, ge=1, le=5), WHOLE] | None = None
    """1 goes first; by default that of the definition, else 3. Nothing goes before the tenant's quota
    `highest_priority`."""


@dataclass(frozen=True, slots=True)
class StartedRun:
    """An existing run. `created` is False if an earlier call with the same key started it."""

    run_id: Annotated[str, Field(examples=["invoice.order-4711"])]
    definition_id: str
    version: int
    digest: str
    created: bool


async def start_run(app: App, principal: Principal, order: RunOrder) -> StartedRun:
    """Start a run of a published definition, or of an inline one, which is published first.

    Raises: InvalidDefinition, InvalidInput, NotFound, KeyConflict, Unavailable.
    """
    key = uuid.uuid4().hex if order.key is None else checked_key(order.key)
    if not isinstance(order.definition, str):
        body, _ = await check(app, principal, order.definition)
        await check_inputs(app, body, order.inputs)  # before publishing: an invalid call must not create a version
    subject = subject_of(order.inputs, key)
    stored = await resolve(app, principal, order.definition, order.version, key=subject)
    if re.fullmatch(DOCUMENT_ID_PATTERN, key):
        await _take_first_run(app, principal.tenant_id, stored, key)
    pinned = names_version(order.definition, order.version)
    return await begin_run(app, principal, stored, order.inputs, key, pinned=pinned, priority=order.priority)


async def _take_first_run(app: App, tenant_id: str, stored: StoredDefinition, document_id: str) -> None:
    """See to it that the first run of a document is in no chunk, and will be in none. Raises: as `move_out`."""
    run_id = f"{stored.definition_id}.{document_id}"
    document = await load_document(app.db, tenant_id, document_id)
    if document is not None and document.run_started_at is None:
        await settle_alone(app.db, tenant_id, run_id, document_id, stored.version)
    await move_out(app, tenant_id, run_id)


async def begin_run(
    app: App,
    principal: Principal,
    stored: StoredDefinition,
    inputs: Mapping[str, Json],
    key: str,
    *,
    pinned: bool = True,
    document: dict[str, Json] | None = None,
    priority: int | None = None,
) -> StartedRun:
    """Start the run `key` of one stored version, or return the existing run, running or ended.

    The principal counts as its starter, an empty name as unknown. Without `pinned`, an alias may have moved.
    Raises: InvalidInput, KeyConflict, QuotaExceeded, Unavailable.
    """
    complete = await check_inputs(app, stored.body, inputs)
    nested = await pin_nested(app, principal, stored, key=subject_of(complete, key))
    request = RunRequest(
        tenant_id=principal.tenant_id,
        run_id=f"{stored.definition_id}.{key}",
        definition=stored.body,
        version=stored.version,
        digest=stored.digest,
        inputs=complete,
        document=document or await context_named(app, principal.tenant_id, complete),
        nested=nested,
        semantics=SEMANTICS,
        highest_priority=await app.quotas.highest_priority(app.db, principal.tenant_id),
        started_by=principal.name,
        started_key_known_to=tuple(await list_known_to(app.db, principal.tenant_id, principal.name)),
        key_id=principal.key_id,
        light=light_handlers(app.catalogue, [stored.body, *(inner.definition for inner in nested.values())]),
    )
    _check(app, request)
    definition, memo = Definition.model_validate(stored.body), memo_of(stored, inputs, pinned=pinned, priority=priority)
    order = priority_of(definition, principal.tenant_id, complete, priority, highest=request.highest_priority)
    created = await _may_start(app, principal, request.run_id) and await start_workflow(app, request, memo, order)
    known = memo if created else await _compare(app, request.tenant_id, request.run_id, memo)
    return StartedRun(request.run_id, stored.definition_id, known["version"], known["digest"], created=created)


async def confirm_run(
    app: App, principal: Principal, stored: StoredDefinition, inputs: Mapping[str, Json], key: str
) -> None:
    """Check that the existing run `key` was requested with the same inputs; a deleted one is not checked.

    Raises: KeyConflict, Unavailable.
    """
    with contextlib.suppress(NotFound):  # Temporal deletes ended runs after its retention time
        memo = memo_of(stored, inputs, pinned=True)
        await _compare(app, principal.tenant_id, f"{stored.definition_id}.{key}", memo)


def checked_key(key: str) -> str:
    """Return `key` if it can be part of a run's id. Raises: InvalidInput."""
    if not re.fullmatch(KEY_PATTERN, key):
        shape = "must be 1 to 128 letters, digits, _ . : or -, beginning with a letter or a digit"
        raise InvalidInput([InputProblem("key", shape)])
    return key


def checked_run_id(run_id: str) -> str:
    """Return `run_id` if it has a valid format. Raises: NotFound, because no such run can exist."""
    if not re.fullmatch(RUN_ID_PATTERN, run_id):
        raise NotFound("run", run_id)
    return run_id


def _check(app: App, request: RunRequest) -> None:
    """Check that the run fits Temporal's limit and that its tags exist. Raises: InvalidInput."""
    check_tags(app, [request.definition, *(inner.definition for inner in request.nested.values())])
    size = len(to_json(request))
    if size > MAX_REQUEST_BYTES:
        parts = "with its inputs and the definitions of its nested runs"
        message = f"takes {size} bytes as JSON {parts}, more than the {MAX_REQUEST_BYTES} that a run can start with"
        raise InvalidInput([InputProblem("definition", message)])


def memo_of(
    stored: StoredDefinition, given: Mapping[str, Json], *, pinned: bool, priority: int | None = None
) -> dict[str, Json]:
    """Return the pinned version and the data to compare a second call with the same key: digests, not values."""
    return {
        "definition": stored.definition_id,
        "version": stored.version,
        "digest": stored.digest,
        "pinned": pinned,
        "inputs": {name: digest(value)[:16] for name, value in given.items()},
        "priority": priority,
    }


async def _compare(app: App, tenant_id: str, run_id: str, wanted: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the memo of the existing run. Raises: KeyConflict if its request was different."""
    existing = await (await describe(app, tenant_id, run_id)).memo()
    if differences := _differences(existing, wanted):
        raise KeyConflict(run_id.partition(".")[2], differences)
    return existing


def _differences(existing: Mapping[str, Json], wanted: Mapping[str, Json]) -> list[str]:
    before, now = existing["inputs"], wanted["inputs"]
    chosen = existing["pinned"] or wanted["pinned"]
    first = existing.get("asked_digest", existing["digest"])  # a retry may have continued with another version
    differences = ["definition"] if chosen and first != wanted["digest"] else []
    if existing.get("priority") != wanted.get("priority"):
        differences.append("priority")
    names = sorted(before.keys() | now.keys())
    return differences + [f"inputs.{name}" for name in names if before.get(name) != now.get(name)]


async def continue_run(
    app: App,
    request: RunRequest,
    memo: dict[str, Json],
    priority: Priority,
    *,
    was_completed: bool = False,
) -> bool:
    """Start an ended run again under its id; False if it is running, or completed although `was_completed` is false.

    Raises: Unavailable.
    """
    if request.document is not None:
        await mark_read_again(app.db, request.tenant_id, request.document["document_id"])
    failed_only, any_end = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY, WorkflowIDReusePolicy.ALLOW_DUPLICATE
    policy = any_end if was_completed else failed_only
    return await start_workflow(app, request, memo, priority, policy)


async def _may_start(app: App, principal: Principal, run_id: str) -> bool:
    """Return whether there is room for one more open run; not if the requested one exists. Raises: QuotaExceeded."""
    try:
        await take_room(app, principal, run_id)
    except QuotaExceeded:
        with contextlib.suppress(NotFound):
            await describe(app, principal.tenant_id, run_id)
            return False
        raise
    return True
