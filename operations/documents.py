"""Take documents in: bytes kept, row written, run started; what a crash left in between is finished later."""

import hashlib
import logging
import re
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

from dag.values import Json
from operations.app import App
from operations.definitions import load
from operations.errors import InputProblem, InvalidInput, KeyConflict, NotFound, OperationError, TooLarge, Unavailable
from operations.principal import Principal, system_principal
from operations.runs import begin_run, checked_key
from storage.definitions import StoredDefinition
from storage.documents import (
    Document,
    DocumentConflict,
    insert_document,
    load_document,
    load_unstarted,
    mark_run_started,
)

DOCUMENT_DEFINITION = "invoice"
"""The definition that an uploaded document is run through."""

DOCUMENT_ID_PATTERN = r"^doc_[0-9a-z]{26}$"
DEFAULT_SLA_HOURS = 24
LONGEST_NAME = 255
UNKNOWN_MEDIA_TYPE = "application/octet-stream"

GRACE_SECONDS = 30.0
"""How long an upload may take from its row to its run before the sweep does it in its place. Both is harmless."""

SWEEP_BATCH = 100

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Control characters, and those that turn the direction of text so that `fdp.exe` reads as `exe.pdf`."""

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,127}")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upload:
    """A document on its way in. Its name and media type are the caller's claims and are only shown, never used."""

    chunks: AsyncIterator[bytes]
    file_name: str
    media_type: str
    sla_hours: int = DEFAULT_SLA_HOURS
    key: str | None = None


async def upload_document(app: App, principal: Principal, upload: Upload) -> Document:
    """Keep a document and start its run. With Temporal away it is kept all the same, and its run starts later.

    The same key again is the same document. Raises: InvalidInput (no bytes, bad key), TooLarge, KeyConflict,
    NotFound (the tenant has no definition for documents).
    """
    document_id = _document_id(principal.tenant_id, upload.key)
    definition = await load(app, principal, DOCUMENT_DEFINITION)
    document = await _keep(app, principal, document_id, upload)
    try:
        return await _start_run(app, principal, document, definition)
    except Unavailable:
        log.warning("document %s is kept; its run starts when Temporal is back", document_id)
        return document


async def show_document(app: App, principal: Principal, document_id: str) -> Document:
    """Return the tenant's document. Raises: NotFound."""
    document = None
    if re.match(DOCUMENT_ID_PATTERN, document_id):
        document = await load_document(app.db, principal.tenant_id, document_id)
    if document is None:
        raise NotFound("document", document_id)
    return document


async def start_waiting_documents(app: App, *, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Start the runs of documents, of all tenants, whose upload was cut short, and return how many.

    Raises: Unavailable.
    """
    started = 0
    while batch := await load_unstarted(app.db, older_than_seconds=older_than_seconds, limit=SWEEP_BATCH):
        outcomes = [await _start_waiting(app, document) for document in batch]
        started += sum(outcomes)
        if not all(outcomes):  # what cannot be started now stays first in line: the next sweep tries it again
            break
    return started


def clean_name(name: str) -> str:
    """Return a caller's file name as harmless plain text: no folders, no control characters, at most 255 characters."""
    base = _UNPRINTABLE.sub("", name.replace("\\", "/")).rstrip("/").rpartition("/")[2].strip()
    return base[:LONGEST_NAME] or "document"


async def _start_waiting(app: App, document: Document) -> bool:
    owner = system_principal(document.tenant_id)
    try:
        await _start_run(app, owner, document, await load(app, owner, DOCUMENT_DEFINITION))
    except Unavailable:
        raise
    except OperationError as error:
        log.warning("the run of document %s cannot be started: %s", document.document_id, error)
        return False
    return True


async def _keep(app: App, principal: Principal, document_id: str, upload: Upload) -> Document:
    blob = await app.blobs.put(await _read(upload.chunks, app.max_upload_bytes))
    media_type = upload.media_type.lower()
    try:
        document = await insert_document(
            app.db,
            principal.tenant_id,
            document_id,
            blob,
            media_type=media_type if _MEDIA_TYPE.fullmatch(media_type) else UNKNOWN_MEDIA_TYPE,
            file_name=clean_name(upload.file_name),
            sla_hours=upload.sla_hours,
            run_id=f"{DOCUMENT_DEFINITION}.{document_id}",
        )
    except DocumentConflict:
        raise KeyConflict(upload.key or document_id, ["file"]) from None
    if document.sla_hours != upload.sla_hours:
        raise KeyConflict(upload.key or document_id, ["sla_hours"])
    return document


async def _read(chunks: AsyncIterator[bytes], limit_bytes: int) -> bytes:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > limit_bytes:
            raise TooLarge(limit_bytes)
    if not data:
        raise InvalidInput([InputProblem("file", "is empty")])
    return bytes(data)


async def _start_run(app: App, principal: Principal, document: Document, definition: StoredDefinition) -> Document:
    if document.run_started_at is not None:
        return document
    inputs = {"document_id": document.document_id, "sla_hours": int(document.sla_hours)}
    run = await begin_run(
        app, principal, definition, inputs, document.document_id, pinned=False, document=_context(document)
    )
    await mark_run_started(app.db, document.tenant_id, document.document_id, run.run_id)
    return await show_document(app, principal, document.document_id)


def _context(document: Document) -> dict[str, Json]:
    """Return what expressions read as `document`."""
    return {
        "document_id": document.document_id,
        "file_name": document.file_name,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "size_bytes": document.size_bytes,
    }


def _document_id(tenant_id: str, key: str | None) -> str:
    """Return a new id; with a key, the same one for the same tenant and key."""
    if key is None:
        return f"doc_{uuid.uuid4().hex[:26]}"
    return f"doc_{hashlib.sha256(f'{tenant_id}/{checked_key(key)}'.encode()).hexdigest()[:26]}"
