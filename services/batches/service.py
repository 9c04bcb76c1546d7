"""Order batches, list and control them. What people want is in the batch's row; its workflow is woken to act on it.

A sweep wakes the workflows of batches that a crash left alone, and looks at runs that wait for someone.
"""

import hashlib
import logging
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace

from temporalio.common import WorkflowIDConflictPolicy

from docrail.adapters.postgres.pool import Database, transaction
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.batches import repository
from docrail.services.batches.models import (
    Batch,
    BatchDocumentPage,
    BatchDocumentState,
    BatchOrder,
    BatchPage,
    BatchStatus,
    Counted,
    RetryOfBatch,
    StoredBatch,
)
from docrail.services.batches.repository import Asking
from docrail.services.definitions.checks import check_some
from docrail.services.definitions.routing import check_brought
from docrail.services.definitions.service import resolve
from docrail.services.engine import RPC_TIMEOUT, engine_errors, status_of
from docrail.services.errors import (
    Forbidden,
    InvalidInput,
    KeyConflict,
    NotFound,
    QuotaExceeded,
    Unavailable,
    WrongState,
)
from docrail.services.paging import after_of, not_a_page, text_of, token_of
from docrail.services.runs.executing import describe
from docrail.services.runs.service import checked_key, turn_of
from docrail.workflows.contract.messages import BatchRequest
from docrail.workflows.contract.names import BATCH_TYPE, CHANGED, batch_workflow_id

BATCH_ID_PATTERN = r"^bat_[0-9a-f]{26}$"

MOST_OPEN = 50
"""Most batches of a tenant that have not completed: each that works holds one of a worker's places for activities."""

MOST_ERRORS = 50
"""Error classes that a batch shows."""

SWEEP_BATCH = 100

MOST_ASKING, ASKING_SECONDS = 200, 50.0
"""Runs that wait for someone that one sweep looks at, and how long ago the last look must be."""

log = logging.getLogger(__name__)

Change = Callable[[Database, StoredBatch], Awaitable[None]]


async def create_batch(
    app: App, principal: Principal, order: BatchOrder, *, key: str | None = None, trigger: str | None = None
) -> Batch:
    """Order a batch, without its documents; the same key again returns the same batch. `trigger`: which one orders it.

    Raises: InvalidInput, Forbidden (a webhook without the scope `operate`), NotFound (the definition), KeyConflict,
    QuotaExceeded.
    """
    batch_id = _batch_id(principal.tenant_id, key)
    if order.webhook_url is not None and Scope.OPERATE not in principal.scopes:
        raise Forbidden(Scope.OPERATE)
    if order.close and not order.document_ids:
        raise InvalidInput(
            [InputProblem("close", "would close a batch without documents: name some, or close it later")]
        )
    check_brought(order.inputs)
    if order.definition is not None:
        found = await resolve(app, principal, order.definition, key=batch_id)
        await check_some(app, found.body, order.inputs)
    stored = await _insert(app, principal, batch_id, order, trigger)
    if _compared(stored.wanted) != _compared(order):
        raise KeyConflict(key or batch_id, ["body"])
    return await show_batch(app, principal, batch_id)


async def list_batches(app: App, principal: Principal, *, limit: int = 20, after: str | None = None) -> BatchPage:
    """Return a page of the tenant's batches, newest first. Raises: InvalidInput."""
    query = f"{principal.tenant_id} batches"
    token = token_of(after, query)
    last = None if token is None else token.decode(errors="replace")
    if last is not None and not re.fullmatch(BATCH_ID_PATTERN, last):
        raise not_a_page()
    found = await repository.list_batches(app.db, principal.tenant_id, limit=limit + 1, after=last)
    shown = [await _shown(app, principal, batch) for batch in found[:limit]]
    more = len(found) > limit
    return BatchPage(shown, after_of(found[limit - 1].batch_id.encode() if more else None, query))


async def show_batch(app: App, principal: Principal, batch_id: str) -> Batch:
    """Return the tenant's batch with its progress. Raises: NotFound."""
    return await _shown(app, principal, await find_batch(app.db, principal, batch_id))


async def find_batch(db: Database, principal: Principal, batch_id: str) -> StoredBatch:
    """Return the tenant's batch as it is stored. Raises: NotFound."""
    found = None
    if re.fullmatch(BATCH_ID_PATTERN, batch_id):
        found = await repository.load_batch(db, principal.tenant_id, batch_id)
    if found is None:
        raise NotFound("batch", batch_id)
    return found


async def list_documents(
    app: App,
    principal: Principal,
    batch_id: str,
    *,
    state: BatchDocumentState | None = None,
    limit: int = 100,
    after: str | None = None,
) -> BatchDocumentPage:
    """Return a page of the documents of a batch, in the order in which they were added.

    Raises: NotFound, InvalidInput.
    """
    query = f"{principal.tenant_id} {batch_id} {state}"
    last = await position_after(app.db, principal, batch_id, token_of(after, query))
    await find_batch(app.db, principal, batch_id)
    found = await repository.list_documents(app.db, principal.tenant_id, batch_id, state, limit=limit + 1, after=last)
    more = found[limit - 1].document_id.encode() if len(found) > limit else None
    return BatchDocumentPage(found[:limit], after_of(more, query))


async def position_after(db: Database, principal: Principal, batch_id: str, token: bytes | None) -> int:
    """Return the position of the document that a page token names; 0 without one. Raises: InvalidInput.

    A token names no position, which counts the documents of all tenants.
    """
    if token is None:
        return 0
    document_id = text_of(token.decode("ascii", "replace"))
    found = await repository.load_position(db, principal.tenant_id, batch_id, document_id)
    if found is None:
        raise not_a_page()
    return found


async def close_batch(app: App, principal: Principal, batch_id: str) -> Batch:
    """Let the batch take no more documents. Safe to repeat. Raises: NotFound."""

    async def close(tx: Database, batch: StoredBatch) -> None:
        if batch.closed_at is None:
            await repository.close(tx, batch)
            await _record(tx, principal, batch, "batch_closed")

    return await _change(app, principal, batch_id, "close", close)


async def pause_batch(app: App, principal: Principal, batch_id: str, *, reason: str = "") -> Batch:
    """Start no more runs of the batch; open ones go on. Raises: NotFound, WrongState."""

    async def pause(tx: Database, batch: StoredBatch) -> None:
        _require(batch, "pause", BatchStatus.OPEN, BatchStatus.RUNNING)
        await repository.pause(tx, batch)
        await _record(tx, principal, batch, "batch_paused", reason=reason)

    return await _change(app, principal, batch_id, "pause", pause)


async def resume_batch(app: App, principal: Principal, batch_id: str, *, reason: str = "") -> Batch:
    """Start runs again. Raises: NotFound, WrongState."""

    async def resume(tx: Database, batch: StoredBatch) -> None:
        _require(batch, "resume", BatchStatus.PAUSED)
        await repository.resume(tx, batch)
        await _record(tx, principal, batch, "batch_resumed", reason=reason)

    return await _change(app, principal, batch_id, "resume", resume)


async def cancel_batch(app: App, principal: Principal, batch_id: str, *, reason: str = "") -> Batch:
    """Close the batch, start no more runs, and cancel the open ones. Raises: NotFound, WrongState."""

    async def cancel(tx: Database, batch: StoredBatch) -> None:
        _require(batch, "cancel", BatchStatus.OPEN, BatchStatus.RUNNING, BatchStatus.PAUSED)
        await repository.cancel(tx, batch)
        await _record(tx, principal, batch, "batch_cancelled", reason=reason)

    return await _change(app, principal, batch_id, "cancel", cancel)


async def retry_batch(app: App, principal: Principal, batch_id: str, order: RetryOfBatch) -> Batch:
    """Let failed documents wait for another turn. A deadline that has passed is dropped.

    Raises: NotFound, WrongState (no document failed like that).
    """

    async def retry(tx: Database, batch: StoredBatch) -> None:
        found = await repository.retry(tx, batch, order.error_type, key_id=principal.key_id)
        if not found:
            which = f" with {order.error_type!r}" if order.error_type else ""
            raise WrongState("retry", _status(batch), "batch", advice=f"none of its documents has failed{which}")
        await _record(tx, principal, batch, "batch_retried", error_type=order.error_type, documents=found)

    return await _change(app, principal, batch_id, "retry", retry)


async def wake(app: App, batch: StoredBatch, what: str) -> None:
    """Let the batch's workflow look at the batch. If Temporal is unavailable, the sweep does so later."""
    try:
        await _wake(app, batch, what)
    except Unavailable as error:
        log.warning("batch %s is stored, and goes on later: %s", batch.batch_id, error)


async def start_waiting_batches(app: App) -> int:
    """Wake the workflows of unfinished batches of all tenants, and look at runs that wait for someone.

    Returns how many batches there are. Raises: Unavailable.
    """
    await _look_at_asking(app)
    woken, last = 0, None
    while batches := await _unfinished(app, last):
        for batch in batches:
            with of_tenant(batch.tenant_id):
                await _wake(app, batch, "sweep")
        woken, last = woken + len(batches), batches[-1]
    return woken


async def count_all_open(app: App) -> dict[str, int]:
    """Return how many documents of all batches wait, and how many run."""
    return {"waiting": 0, "running": 0} | await repository.count_all_open(app.db)


async def _look_at_asking(app: App) -> None:
    """Let documents go on whose run does not wait any more, for instance as a signal has arrived."""
    for asking in await _asking(app):
        with of_tenant(asking.tenant_id):
            if not await _still_asks(app, asking):
                await repository.go_on(app.db, asking)


async def _still_asks(app: App, asking: Asking) -> bool:
    try:
        found = await describe(app, asking.tenant_id, asking.document.run_id or "")
    except NotFound:
        return False
    return status_of(found) in (RunStatus.WAITING, RunStatus.PAUSED)


async def _asking(app: App) -> list[Asking]:
    with all_tenants():
        return await repository.take_asking(app.db, not_since_seconds=ASKING_SECONDS, limit=MOST_ASKING)


async def _unfinished(app: App, after: StoredBatch | None) -> list[StoredBatch]:
    with all_tenants():
        return await repository.list_unfinished(app.db, limit=SWEEP_BATCH, after=after)


async def _insert(app: App, principal: Principal, batch_id: str, order: BatchOrder, trigger: str | None) -> StoredBatch:
    tenant_id = principal.tenant_id
    async with transaction(app.db) as tx:
        if (found := await repository.load_batch(tx, tenant_id, batch_id)) is not None:
            return found
        if await repository.count_open(tx, tenant_id) >= MOST_OPEN:
            raise QuotaExceeded("open_batches", MOST_OPEN, "the tenant", 60.0)
        inserted = await repository.insert_batch(tx, tenant_id, batch_id, order, by=principal.name, trigger=trigger)
        if inserted is None:  # another request has just done so
            inserted = await repository.load_batch(tx, tenant_id, batch_id)
        else:
            await _record(tx, principal, inserted, "batch_ordered", definition=order.definition)
    assert inserted is not None, "it is stored"
    return inserted


async def _change(app: App, principal: Principal, batch_id: str, what: str, change: Change) -> Batch:
    """Change the locked batch, and wake its workflow."""
    await find_batch(app.db, principal, batch_id)
    async with transaction(app.db) as tx:
        batch = await repository.lock_batch(tx, principal.tenant_id, batch_id)
        assert batch is not None, "no batch is ever deleted"
        await change(tx, batch)
    await wake(app, batch, what)
    return await show_batch(app, principal, batch_id)


async def _wake(app: App, batch: StoredBatch, what: str) -> None:
    request = BatchRequest(tenant_id=batch.tenant_id, batch_id=batch.batch_id)
    with engine_errors("batch", batch.batch_id):
        await app.temporal.start_workflow(
            BATCH_TYPE,
            request,
            id=batch_workflow_id(batch.tenant_id, batch.batch_id),
            task_queue=app.task_queue,
            priority=turn_of(batch.tenant_id),
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=batch.wanted.name or batch.batch_id,
            start_signal=CHANGED,
            start_signal_args=[what],
            rpc_timeout=RPC_TIMEOUT,
        )


async def _record(tx: Database, principal: Principal, batch: StoredBatch, act: str, **detail: Json) -> None:
    """Add an act to the audit log. Comes last: it locks the log."""
    given = {name: value for name, value in detail.items() if value not in (None, "")}
    facts: dict[str, Json] = {"batch_id": batch.batch_id, **given}
    await append_event(tx, principal.tenant_id, Act(principal.name, act, None, None, facts))


async def _shown(app: App, principal: Principal, batch: StoredBatch) -> Batch:
    counted = await repository.count_documents(app.db, principal.tenant_id, batch.batch_id)
    counts, left = counted.counts, counted.counts.waiting + counted.counts.running
    errors = await repository.count_errors(app.db, principal.tenant_id, batch.batch_id, limit=MOST_ERRORS)
    wanted = batch.wanted
    return Batch(
        batch_id=batch.batch_id,
        name=wanted.name,
        status=_status(batch, left=left),
        definition=wanted.definition,
        max_concurrency=batch.max_concurrency,
        is_closed=batch.closed_at is not None,
        counts=counts,
        duplicates=counted.duplicates,
        errors=errors,
        per_minute=float(counted.ended_lately),
        seconds_left=left / counted.ended_lately * 60 if counted.ended_lately and left else None,
        held_by=batch.held_by,
        deadline=batch.deadline_at,
        webhook_url=wanted.webhook_url,
        webhook_error=batch.webhook_error,
        created_by=batch.created_by,
        created_at=batch.created_at,
        completed_at=batch.completed_at,
        allowed=_allowed(principal, batch, counted),
    )


def _status(batch: StoredBatch, *, left: int = 1) -> BatchStatus:
    if batch.cancelled_at is not None:
        return BatchStatus.CANCELLED
    if batch.completed_at is not None:
        return BatchStatus.COMPLETED
    if batch.paused_at is not None:
        return BatchStatus.PAUSED
    return BatchStatus.OPEN if batch.closed_at is None and not left else BatchStatus.RUNNING


def _allowed(principal: Principal, batch: StoredBatch, counted: Counted) -> list[str]:
    """Return what the caller may do now; the services decide again."""
    status = _status(batch)
    goes_on = status in (BatchStatus.RUNNING, BatchStatus.PAUSED)
    acts = {
        "append": (Scope.SUBMIT, batch.closed_at is None),
        "close": (Scope.SUBMIT, batch.closed_at is None),
        "pause": (Scope.OPERATE, status is BatchStatus.RUNNING),
        "resume": (Scope.OPERATE, status is BatchStatus.PAUSED),
        "cancel": (Scope.OPERATE, goes_on),
        "retry": (Scope.OPERATE, counted.counts.failed > 0),
    }
    return [act for act, (scope, is_possible) in acts.items() if is_possible and scope in principal.scopes]


def _require(batch: StoredBatch, act: str, *statuses: BatchStatus) -> None:
    if (status := _status(batch)) not in statuses:
        raise WrongState(act, status, "batch")


def _compared(order: BatchOrder) -> dict[str, Json]:
    """Return what must be equal in two requests with the same key."""
    return asdict(replace(order, document_ids=()))


def _batch_id(tenant_id: str, key: str | None) -> str:
    """Return a new id; with a key, the same id for the same tenant and key."""
    if key is None:
        return f"bat_{uuid.uuid4().hex[:26]}"
    return f"bat_{hashlib.sha256(f'{tenant_id}/{checked_key(key)}'.encode()).hexdigest()[:26]}"
