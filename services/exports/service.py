"""Order exports, list them, preview them, and fetch their files again.

An order chooses its documents and stores them in one transaction: two orders at the same time never share a new
document. A workflow makes the file (services/exports/making.py); a sweep starts those that a crash left without one.
"""

import hashlib
import logging
import re
import uuid
from collections.abc import Sequence

from temporalio.common import WorkflowIDConflictPolicy

from docrail.adapters.postgres.pool import transaction
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.adapters.store.checked import CheckedFile
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.models import ApprovedFilter, SumOfCurrency
from docrail.services.documents.service import list_approved, sum_approved, take_approved
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.errors import (
    Forbidden,
    InvalidInput,
    KeyConflict,
    NotFound,
    QuotaExceeded,
    Unavailable,
    WrongState,
)
from docrail.services.exports import repository
from docrail.services.exports.making import load_rows
from docrail.services.exports.models import (
    FIRST_ROWS,
    MOST_DOCUMENTS,
    DocumentExport,
    Export,
    ExportOrder,
    ExportPage,
    Preview,
    WebhookMessages,
)
from docrail.services.exports.periods import ends_of
from docrail.services.exports.writing import cell_text, cells_of, kinds_of
from docrail.services.paging import after_of, text_of, token_of
from docrail.services.runs.service import checked_key, turn_of
from docrail.workflows.contract.messages import ExportRequest
from docrail.workflows.contract.names import EXPORT_TYPE, export_workflow_id

EXPORT_ID_PATTERN = r"^exp_[0-9a-f]{26}$"

MOST_OPEN = 10
"""Most exports of a tenant that are being made or sent at the same time."""

GRACE_SECONDS = 30.0
"""Time that an order gets from its row to its workflow before the sweep starts it. Both together is harmless."""

SWEEP_BATCH = 100

log = logging.getLogger(__name__)


async def create_export(app: App, principal: Principal, order: ExportOrder, *, key: str | None = None) -> Export:
    """Order an export, and return it while it is being made; the same key again returns the same export.

    Raises: InvalidInput (too many documents), WrongState (none), Forbidden (a webhook without the scope `operate`),
    KeyConflict, QuotaExceeded.
    """
    export_id = _export_id(principal.tenant_id, key)
    wanted = _filter(order)
    if isinstance(order.to, WebhookMessages) and Scope.OPERATE not in principal.scopes:
        raise Forbidden(Scope.OPERATE)
    earlier = await repository.load_export(app.db, principal.tenant_id, export_id)
    export = earlier or await _insert(app, principal, export_id, order, wanted)
    if export.wanted != order:
        raise KeyConflict(key or export_id, ["body"])
    try:
        await _start(app, export)
    except Unavailable as error:
        log.warning("export %s is stored, and made later: %s", export_id, error)
    return export


async def preview_export(app: App, principal: Principal, order: ExportOrder) -> Preview:
    """Return how many documents an order would have, their totals, and the first rows. Raises: InvalidInput."""
    wanted = _filter(order)
    sums = await sum_approved(app.db, principal.tenant_id, wanted)
    ids = await list_approved(app.db, principal.tenant_id, wanted, limit=FIRST_ROWS)
    rows = await load_rows(app.db, principal.tenant_id, ids)
    return Preview(
        documents=sum(each.documents for each in sums),
        exported_before=sum(each.exported for each in sums),
        sums=[SumOfCurrency(each.currency, each.documents, f"{each.total:f}") for each in sums],
        kinds=kinds_of(order.columns),
        rows=[[cell_text(cell, order.period.zone) for cell in cells_of(order.columns, row)] for row in rows],
    )


async def list_exports(app: App, principal: Principal, *, limit: int = 100, after: str | None = None) -> ExportPage:
    """Return a page of the tenant's exports, newest first. Raises: InvalidInput."""
    query = f"{principal.tenant_id} exports"
    token = token_of(after, query)
    last = None if token is None else text_of(token.decode(errors="replace"))
    found = await repository.list_exports(app.db, principal.tenant_id, limit=limit + 1, after=last)
    more = len(found) > limit
    return ExportPage(found[:limit], after_of(found[limit - 1].export_id.encode() if more else None, query))


async def show_export(app: App, principal: Principal, export_id: str) -> Export:
    """Return the tenant's export. Raises: NotFound."""
    found = None
    if re.fullmatch(EXPORT_ID_PATTERN, export_id):
        found = await repository.load_export(app.db, principal.tenant_id, export_id)
    if found is None:
        raise NotFound("export", export_id)
    return found


async def open_file(app: App, principal: Principal, export_id: str) -> tuple[Export, CheckedFile]:
    """Return an export and its file, each time the same bytes. Raises: NotFound, WrongState, Unavailable, OSError."""
    export = await show_export(app, principal, export_id)
    if export.path is None or export.sha256 is None:
        raise WrongState("download", export.status, "export")
    return export, await app.exports.open(principal.tenant_id, export.path, export.sha256)


async def exports_of(app: App, principal: Principal, document_id: str) -> Sequence[DocumentExport]:
    """Return the tenant's exports that have the document, oldest first."""
    return await repository.list_of_document(app.db, principal.tenant_id, document_id)


async def start_waiting_exports(app: App, *, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Start the workflows of exports, of all tenants, that have not ended, and return how many there are.

    One that runs already goes on. Raises: Unavailable.
    """
    started, last = 0, None
    while batch := await _open(app, older_than_seconds, last):
        for export in batch:
            with of_tenant(export.tenant_id):
                await _start(app, export)
        started, last = started + len(batch), batch[-1]
    return started


async def _open(app: App, older_than_seconds: float, after: Export | None) -> list[Export]:
    with all_tenants():
        return await repository.list_open(app.db, older_than_seconds=older_than_seconds, limit=SWEEP_BATCH, after=after)


async def _insert(app: App, principal: Principal, export_id: str, order: ExportOrder, wanted: ApprovedFilter) -> Export:
    tenant_id = principal.tenant_id
    async with transaction(app.db) as tx:
        if await repository.count_open(tx, tenant_id) >= MOST_OPEN:
            raise QuotaExceeded("open_exports", MOST_OPEN, "the tenant", 30.0)
        if await repository.insert_export(tx, tenant_id, export_id, order, principal.name) is None:
            found = await repository.load_export(tx, tenant_id, export_id)
            assert found is not None, "another request has just inserted it"
            return found
        ids = await take_approved(tx, tenant_id, wanted, export_id, limit=MOST_DOCUMENTS + 1)
        _check_count(len(ids), order)
        return await repository.insert_documents(tx, tenant_id, export_id, ids)


def _check_count(count: int, order: ExportOrder) -> None:
    if count > MOST_DOCUMENTS:
        message = f"has more than {MOST_DOCUMENTS} documents: choose a shorter one"
        raise InvalidInput([InputProblem("period", message)])
    if count == 0:
        which = " that no export has yet" if order.which == "new" else ""
        raise WrongState("export", "empty", "period", advice=f"it has no approved document{which}")


async def _start(app: App, export: Export) -> None:
    if export.ended_at is not None:
        return
    request = ExportRequest(tenant_id=export.tenant_id, export_id=export.export_id)
    with engine_errors("export", export.export_id):
        await app.temporal.start_workflow(
            EXPORT_TYPE,
            request,
            id=export_workflow_id(export.tenant_id, export.export_id),
            task_queue=app.task_queue,
            priority=turn_of(export.tenant_id),
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            rpc_timeout=RPC_TIMEOUT,
        )


def _export_id(tenant_id: str, key: str | None) -> str:
    """Return a new id; with a key, the same id for the same tenant and key."""
    if key is None:
        return f"exp_{uuid.uuid4().hex[:26]}"
    return f"exp_{hashlib.sha256(f'{tenant_id}/{checked_key(key)}'.encode()).hexdigest()[:26]}"


def _filter(order: ExportOrder) -> ApprovedFilter:
    since, before = ends_of(order.period)
    return ApprovedFilter(order.period.of, since, before, order.which == "new")
