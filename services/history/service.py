"""Collect what happened to a document from the nouns that recorded it, and compare its readings."""

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from docrail.invoices.fields import value_text
from docrail.invoices.model import FIELD_NAMES, agree
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.audit.models import AuditEvent
from docrail.services.audit.service import list_events
from docrail.services.documents.models import Document, StoredReading
from docrail.services.documents.service import list_readings, show_document
from docrail.services.exports.models import DocumentExport
from docrail.services.exports.service import exports_of
from docrail.services.history.models import (
    DocumentHistory,
    DocumentReadings,
    Happened,
    HistoryEvent,
    ReadField,
    Reading,
)

MOST_ACTS = 1000
"""Acts of people that a history has, the first ones."""


async def show_history(app: App, principal: Principal, document_id: str) -> DocumentHistory:
    """Return what happened to the tenant's document, oldest first. Raises: NotFound."""
    document = await show_document(app, principal, document_id)
    acts = await list_events(app.db, principal.tenant_id, document_id=document_id, limit=MOST_ACTS)
    readings = await list_readings(app.db, principal.tenant_id, document.sha256)
    exports = await exports_of(app, principal, document_id)
    read = (_read(each, document.received_at) for each in readings)
    events = [_received(document), *read, *_done(acts), *map(_exported, exports)]
    return DocumentHistory(sorted(events, key=lambda event: event.at))


async def show_readings(app: App, principal: Principal, document_id: str) -> DocumentReadings:
    """Return every reading of the tenant's document, the one that is used first. Raises: NotFound."""
    document = await show_document(app, principal, document_id)
    found = await list_readings(app.db, principal.tenant_id, document.sha256)
    readings = [_reading(each, is_used=position == 0) for position, each in enumerate(found)]
    return DocumentReadings(readings, [*_fields(found)])


def _received(document: Document) -> HistoryEvent:
    return HistoryEvent(document.received_at, Happened.RECEIVED, document.uploaded_by or None, value=document.file_name)


def _read(reading: StoredReading, received_at: dt.datetime) -> HistoryEvent:
    """Return the event of a reading. Nothing happened to a document before it was received."""
    what = Happened.READ_BEFORE if reading.read_at < received_at else Happened.READ
    reader = reading.invoice.model or reading.invoice.reader
    return HistoryEvent(max(reading.read_at, received_at), what, None, value=reader)


def _exported(export: DocumentExport) -> HistoryEvent:
    return HistoryEvent(
        export.ended_at, Happened.EXPORTED, export.created_by, value=export.format, export_id=export.export_id
    )


def _done(acts: Sequence[AuditEvent]) -> Iterator[HistoryEvent]:
    """Yield the acts that changed the document or its item; claims and their ends are left out."""
    known = {each.value for each in Happened}
    for act in acts:
        if act.act in known:
            detail = act.detail
            yield HistoryEvent(
                *(act.happened_at, Happened(act.act), act.actor),
                field=detail.get("field"),
                value=detail.get("value") or detail.get("to") or detail.get("until"),
                was=detail.get("was"),
                why=detail.get("why") or "",
            )


def _reading(found: StoredReading, *, is_used: bool) -> Reading:
    invoice = found.invoice
    return Reading(
        version=found.reader_version,
        read_at=found.read_at,
        reader=invoice.reader,
        readers=list(invoice.readers),
        model=invoice.model,
        confidence=invoice.confidence,
        line_items=len(invoice.line_items),
        is_used=is_used,
    )


def _fields(readings: Sequence[StoredReading]) -> Iterator[ReadField]:
    for name in FIELD_NAMES:
        found = [getattr(each.invoice, name) for each in readings]
        if any(field.value is not None for field in found):
            yield ReadField(
                name=name,
                values=[value_text(field.value) for field in found],
                sources=[field.source.value for field in found],
                differs=any(not _same(name, one.value, other.value) for one, other in itertools.pairwise(found)),
            )


def _same(name: str, one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return agree(name, one, other) is not False
