"""Make the file of an export, send it to its webhook, and mark its documents; a repeated attempt does no harm.

The file is durable before the export and its documents are marked in one transaction, so nothing is marked without a
file. A file that this transaction does not name is deleted.
"""

import asyncio
import datetime as dt
import json
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from docrail.adapters.http.webhooks import Message, deliver
from docrail.adapters.postgres.pool import Database, transaction
from docrail.adapters.store.blobs import COPY_PREFIX
from docrail.invoices.model import InvoiceData
from docrail.services.app import App
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.documents.models import Document
from docrail.services.documents.service import give_back, load_documents, mark_taken_exported
from docrail.services.exports import repository
from docrail.services.exports.columns import Row
from docrail.services.exports.models import Export, Status, StoredFile, WebhookMessages
from docrail.services.exports.writing import Writer, open_writer
from docrail.services.reviews.standing import ApprovedDocument, load_approved
from docrail.services.tools import Outside

PAGE = 200
"""Documents that are read, written or sent together."""

Heartbeat = Callable[[], None]

log = logging.getLogger(__name__)


async def make_export(app: App, tenant_id: str, export_id: str, heartbeat: Heartbeat) -> bool:
    """Make the export's file and store it; return whether it must then be sent. Safe to repeat.

    Documents that are not approved any more are left out. Raises: ValueError (its format cannot take them), OSError.
    """
    export = await repository.load_export(app.db, tenant_id, export_id)
    if export is None:
        return False
    if export.status is not Status.PREPARING:
        await app.exports.keep_only(tenant_id, export_id, export.path)  # an attempt before may have died before that
        return export.status is Status.SENDING
    with tempfile.TemporaryDirectory(prefix=COPY_PREFIX) as folder:  # readable by this user only
        path, missing = await _write(app, export, Path(folder), heartbeat)
        data = await asyncio.to_thread(path.read_bytes)
    file = await app.exports.write(tenant_id, export_id, export.wanted.suffix, data)
    status = await _keep(app, export, file, missing)
    return status is Status.SENDING


async def send_export(app: App, outside: Outside, tenant_id: str, export_id: str, heartbeat: Heartbeat) -> None:
    """Send the messages that were not sent yet, and mark the documents. A message may arrive twice, with the same id.

    Raises: as `deliver`.
    """
    export = await repository.load_export(app.db, tenant_id, export_id)
    if export is None or export.status is not Status.SENDING:
        return
    assert export.path is not None and export.sha256 is not None, "it has a file, as it is being sent"  # noqa: PT018
    assert isinstance(export.wanted.to, WebhookMessages), "only these are sent"
    messages = (await app.exports.read(tenant_id, export.path, export.sha256)).splitlines()
    sent = 0
    for part, line in enumerate(messages, 1):
        body = json.loads(line)
        sent += len(body["documents"])
        if sent > export.done or not body["documents"]:
            message_id = f"msg_{export_id.removeprefix('exp_')}_{part}"
            await deliver(Message(tenant_id, message_id, export.wanted.to.url, body), outside.http, outside.secrets)
            await repository.note_done(app.db, export, sent)
            heartbeat()
    async with transaction(app.db) as tx:
        if await _is_still(tx, export):
            await repository.end_export(tx, export, Status.READY)
            await _mark(tx, export, export.documents, export.sha256)


async def fail_export(app: App, tenant_id: str, export_id: str, error: str) -> None:
    """End an export that cannot be made or sent: its documents are new again, and its file is deleted."""
    async with transaction(app.db) as tx:
        export = await repository.lock_export(tx, tenant_id, export_id)
        if export is None:
            return
        if export.ended_at is None:
            await repository.end_export(tx, export, Status.FAILED, error)
            await give_back(tx, tenant_id, export_id)
    await app.exports.keep_only(tenant_id, export_id, export.path)


async def load_rows(db: Database, tenant_id: str, document_ids: Sequence[str]) -> list[Row]:
    """Return the documents that are approved, in the order of the ids."""
    documents = await load_documents(db, tenant_id, document_ids)
    approved = await load_approved(db, tenant_id, document_ids)
    return await asyncio.to_thread(_rows, document_ids, documents, approved)


async def _write(app: App, export: Export, folder: Path, heartbeat: Heartbeat) -> tuple[Path, list[str]]:
    """Write the file; return it, and the ids of documents that are not in it."""
    writer = await asyncio.to_thread(open_writer, export, folder)
    try:
        missing = await _write_pages(app, export, writer, heartbeat)
    except Exception:
        await asyncio.to_thread(writer.close)  # it holds open files
        raise
    return await _close(writer, heartbeat), missing


async def _write_pages(app: App, export: Export, writer: Writer, heartbeat: Heartbeat) -> list[str]:
    done, missing = 0, list[str]()
    async for ids in _pages(app, export):
        rows = await load_rows(app.db, export.tenant_id, ids)
        await asyncio.to_thread(writer.add, rows)
        written = {row.document.document_id for row in rows}
        missing += [each for each in ids if each not in written]
        done += len(rows)
        await repository.note_done(app.db, export, done)
        heartbeat()
    return missing


async def _close(writer: Writer, heartbeat: Heartbeat) -> Path:
    """End the file: a workbook is packed then, which takes half a minute for 100,000 rows."""
    closing = asyncio.create_task(asyncio.to_thread(writer.close))
    while not (await asyncio.wait([closing], timeout=HEARTBEAT_SECONDS))[0]:
        heartbeat()
    return closing.result()


HEARTBEAT_SECONDS = 10.0


async def _pages(app: App, export: Export) -> AsyncIterator[list[str]]:
    last = 0
    while page := await repository.list_documents(app.db, export.tenant_id, export.export_id, after=last, limit=PAGE):
        yield [*page.values()]
        last = max(page)


async def _keep(app: App, export: Export, file: StoredFile, missing: list[str]) -> Status:
    """Record the file, unless another attempt was faster; return the export's status."""
    is_sent = isinstance(export.wanted.to, WebhookMessages)
    status, kept = Status.SENDING if is_sent else Status.READY, file.path
    async with transaction(app.db) as tx:
        now = await repository.lock_export(tx, export.tenant_id, export.export_id)
        assert now is not None, "exports are never deleted"
        if now.status is not Status.PREPARING:
            status, kept = now.status, now.path or ""
        else:
            await repository.remove_documents(tx, export.tenant_id, export.export_id, missing)
            await give_back(tx, export.tenant_id, export.export_id, missing)
            count = export.documents - len(missing)
            await repository.keep_file(tx, export, status, count, file)
            if not is_sent:
                await _mark(tx, export, count, file.sha256)
    await app.exports.keep_only(export.tenant_id, export.export_id, kept)
    return status


async def _is_still(tx: Database, export: Export) -> bool:
    """Lock the export; return whether it stands as it did."""
    now = await repository.lock_export(tx, export.tenant_id, export.export_id)
    return now is not None and now.status is export.status


async def _mark(tx: Database, export: Export, documents: int, sha256: str) -> None:
    """Mark the documents, and add the export to the audit log; comes last, as it locks the tenant's log."""
    await mark_taken_exported(tx, export.tenant_id, export.export_id)
    detail = {
        "export_id": export.export_id,
        "documents": documents,
        "format": export.wanted.to.format,
        "sha256": sha256,
    }
    await append_event(tx, export.tenant_id, Act(export.created_by, "exported", None, None, detail))


def _rows(
    document_ids: Sequence[str], documents: dict[str, Document], approved: dict[str, ApprovedDocument]
) -> list[Row]:
    return [_row(documents[each], approved[each]) for each in document_ids if each in approved]


def _row(document: Document, found: ApprovedDocument) -> Row:
    invoice = InvoiceData.model_validate_json(found.decided_invoice)
    return Row(document, invoice, found.decided_by, found.closed_at.astimezone(dt.UTC))
