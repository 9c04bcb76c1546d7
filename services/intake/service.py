"""Accept documents: store the bytes, write the row, start the run; a sweep completes what a crash interrupted.

Also starts runs that read a document again. Locked fields stay; differing values are proposed.
"""

import hashlib
import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field

from docrail.adapters.postgres.pool import Database
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.routing import Facts
from docrail.dag.language.version_refs import parse_ref
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal, system_principal
from docrail.services.app import App
from docrail.services.definitions.models import DEFAULT_DEFINITION
from docrail.services.definitions.resolving import Resolver
from docrail.services.definitions.routing import missing_inputs, route
from docrail.services.definitions.service import resolve
from docrail.services.documents.context import context_of
from docrail.services.documents.models import Document, DocumentConflict, UnendedDocument
from docrail.services.documents.service import (
    insert_document,
    load_document,
    load_unended,
    load_unstarted,
    mark_ended,
    mark_read_again,
    show_document,
)
from docrail.services.errors import (
    InvalidInput,
    KeyConflict,
    OperationError,
    QuotaExceeded,
    TooLarge,
    Unavailable,
    WrongState,
)
from docrail.services.intake.inputs import check_given, inputs_of
from docrail.services.intake.starting import Choice, start_alone, start_new, start_settled
from docrail.services.reviews.items import load_review
from docrail.services.reviews.models import APPROVED, REJECTED, review_id_of
from docrail.services.runs.closed_chunks import complete_chunks
from docrail.services.runs.service import StartedRun, begin_run, checked_key
from docrail.services.runs.views.lists import ends_of_documents

DEFAULT_SLA_HOURS = 24

LONGEST_NAME = 255

UNKNOWN_MEDIA_TYPE = "application/octet-stream"

GRACE_SECONDS = 30.0
"""Time that an upload gets from its row to its run before the sweep starts the run. Both together is harmless."""

SWEEP_BATCH = 100

SWEEP_SECONDS = 30.0
"""A sweep starts no more batches after this time; the next one, a minute later, continues."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Control characters, and those that reverse the direction of text so that `fdp.exe` reads as `exe.pdf`."""

SOURCE_PATTERN = r"^([A-Za-z0-9][A-Za-z0-9 _.:/@+-]{0,99})?$"
"""A label or an address, without characters that a terminal or a log could interpret."""

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,127}")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upload:
    """A document to be stored.

    Its name, media type and source are the caller's claims: displayed, matched by routing rules, and not used
    otherwise.
    """

    chunks: AsyncIterator[bytes]
    file_name: str
    media_type: str
    sla_hours: int = DEFAULT_SLA_HOURS
    key: str | None = None
    source: str = ""
    definition: str | None = None
    """`ID`, `ID@VERSION` or `ID@ALIAS`; None: the tenant's routing rules choose."""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Values for the definition's inputs, except those that the document provides itself."""


async def upload_document(app: App, principal: Principal, upload: Upload) -> Document:
    """Store a document and start its run. If Temporal is unavailable the document is stored and its run starts later.

    The same key again returns the same document. Raises: InvalidInput (no bytes, bad key, inputs that do not fit the
    definition or are missing), TooLarge, KeyConflict, NotFound (the tenant has no such definition), QuotaExceeded.
    """
    with app.gatherings.upload(principal.tenant_id):
        return await _upload(app, principal, upload)


async def _upload(app: App, principal: Principal, upload: Upload) -> Document:
    document_id = document_id_of(principal.tenant_id, upload.key)
    data = await _read(upload.chunks, app.max_upload_bytes)
    facts = _facts(principal, upload, len(data))
    choice = await _choose(app, principal, Resolver(app, principal), upload, facts, document_id)
    if upload.key is None or await load_document(app.db, principal.tenant_id, document_id) is None:
        await app.quotas.use_documents(app.db, principal)
    document = await _keep(app, principal, document_id, upload, facts, data, choice)
    start = start_new if document.is_new else start_settled
    try:
        return await start(app, principal, document, choice)
    except (Unavailable, QuotaExceeded) as error:
        log.warning("document %s is stored; its run starts later: %s", document_id, error)
        return document


async def check_upload(app: App, principal: Principal, upload: Upload, size_bytes: int) -> None:
    """Check that a document can run. Raises: InvalidInput (its inputs do not fit), NotFound (its definition)."""
    document_id = document_id_of(principal.tenant_id, upload.key)
    facts = _facts(principal, upload, size_bytes)
    await _choose(app, principal, Resolver(app, principal), upload, facts, document_id)


async def store_for_batch(
    app: App, principal: Principal, resolver: Resolver, upload: Upload, data: bytes, batch_id: str, document_id: str
) -> Callable[[Database], Awaitable[Document]]:
    """Store the bytes of a document whose run a batch starts; return how to insert it, within a transaction.

    Raises: InvalidInput, NotFound (no such definition).
    """
    facts = _facts(principal, upload, len(data))
    choice = await _choose(app, principal, resolver, upload, facts, document_id)
    blob = await app.blobs.put(data)

    async def insert(tx: Database) -> Document:
        return await insert_document(
            tx,
            principal.tenant_id,
            document_id,
            blob,
            media_type=facts.type,
            file_name=facts.file_name,
            sla_hours=upload.sla_hours,
            run_id=f"{choice.stored.definition_id}.{document_id}",
            definition=choice.ref,
            source=facts.source,
            uploaded_by=principal.name,
            key_id=principal.key_id,
            batch_id=batch_id,
            inputs=upload.inputs,
        )

    return insert


async def start_document(app: App, principal: Principal, document: Document, *, priority: int) -> str:
    """Start the first run of a stored document, and return the run's id. Safe to repeat.

    Raises: NotFound (its definition), InvalidInput, QuotaExceeded, Unavailable.
    """
    started = await start_alone(app, principal, document, priority=priority)
    assert started.run_id is not None, "it has just been started"
    return started.run_id


async def start_another_run(
    app: App,
    principal: Principal,
    document: Document,
    definition: str | None,
    key: str,
    *,
    inputs: Mapping[str, Json],
    priority: int,
) -> str:
    """Start another run of a document, and return the run's id; the same key, the same run.

    `inputs` replace those of its upload.

    Raises: NotFound (the definition), InvalidInput, KeyConflict, QuotaExceeded, Unavailable.
    """
    ref = definition or document.definition or DEFAULT_DEFINITION
    stored = await resolve(app, principal, ref, key=document.document_id)
    begun = await begin_run(
        *(app, principal, stored, inputs_of(document, stored) | dict(inputs), checked_key(key)),
        pinned=False,
        document=context_of(document),
        priority=priority,
    )
    return begun.run_id


async def start_waiting_documents(app: App, *, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Start the runs of documents, of all tenants, whose upload was interrupted, and return how many.

    No batch starts after SWEEP_SECONDS. Raises: Unavailable.
    """
    started, last, until = 0, None, time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < until and (batch := await _unstarted(app, older_than_seconds, last)):
        started += sum([await _start_waiting(app, document) for document in batch])
        # skip documents that cannot be started: the next sweep tries them, and the others are not delayed
        last = batch[-1]
    return started


def clean_name(name: str) -> str:
    """Return a caller's file name as harmless plain text: no folders, no control characters, at most 255 characters."""
    base = _UNPRINTABLE.sub("", name.replace("\\", "/")).rstrip("/").rpartition("/")[2].strip()
    return base[:LONGEST_NAME] or "document"


async def note_ended_documents(app: App, *, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Record the ends of documents' runs, of all tenants, as Temporal knows them, and return how many.

    A document whose run completed without a question to a person is complete. Also of runs in chunks, as far as the
    chunks have not recorded them. No batch starts after SWEEP_SECONDS. Raises: Unavailable.
    """
    noted = await complete_chunks(app, older_than_seconds=older_than_seconds, within_seconds=SWEEP_SECONDS)
    last, until = None, time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < until and (batch := await _unended(app, older_than_seconds, last)):
        noted += await _note_ends(app, batch)
        last = batch[-1]
    return noted


async def _unended(app: App, older_than_seconds: float, after: UnendedDocument | None) -> list[UnendedDocument]:
    with all_tenants():
        return await load_unended(app.db, older_than_seconds=older_than_seconds, limit=SWEEP_BATCH, after=after)


async def _note_ends(app: App, documents: list[UnendedDocument]) -> int:
    ends = await ends_of_documents(app, [each.document_id for each in documents])
    for status in set(ends.values()):
        with all_tenants():
            await mark_ended(app.db, [each for each in documents if ends.get(each.document_id) is status], status)
    return len(ends)


async def _unstarted(app: App, older_than_seconds: float, after: Document | None) -> list[Document]:
    with all_tenants():
        return await load_unstarted(app.db, older_than_seconds=older_than_seconds, limit=SWEEP_BATCH, after=after)


async def _start_waiting(app: App, document: Document) -> bool:
    owner = system_principal(document.tenant_id)
    try:
        with of_tenant(document.tenant_id):
            await start_settled(app, owner, document)
    except Unavailable:
        raise
    except OperationError as error:
        log.warning("the run of document %s cannot be started: %s", document.document_id, error)
        return False
    return True


def _facts(principal: Principal, upload: Upload, size_bytes: int) -> Facts:
    media_type = upload.media_type.lower()
    return Facts(
        tenant=principal.tenant_id,
        type=media_type if _MEDIA_TYPE.fullmatch(media_type) else UNKNOWN_MEDIA_TYPE,
        size=size_bytes,
        source=_checked_source(upload.source),
        file_name=clean_name(upload.file_name),
    )


async def _choose(
    app: App, principal: Principal, resolver: Resolver, upload: Upload, facts: Facts, document_id: str
) -> Choice:
    """Return the document's definition. Raises: NotFound, InvalidInput (inputs are missing, or do not fit it)."""
    ref = upload.definition or (await route(app, principal, facts)).definition
    stored = await resolver.resolve(ref, key=document_id)
    if missing := missing_inputs(Definition.model_validate(stored.body), upload.inputs):
        message = f"{ref!r} requires the input {missing[0]!r}, which a document does not provide: give it in `inputs`"
        raise InvalidInput([InputProblem("definition", message)])
    if upload.inputs:
        await check_given(app, stored, upload.inputs, document_id, upload.sla_hours)
    return Choice(str(parse_ref(ref)), stored)


async def _keep(
    app: App, principal: Principal, document_id: str, upload: Upload, facts: Facts, data: bytes, choice: Choice
) -> Document:
    try:
        document = await insert_document(
            app.db,
            principal.tenant_id,
            document_id,
            await app.blobs.put(data),
            media_type=facts.type,
            file_name=facts.file_name,
            sla_hours=upload.sla_hours,
            run_id=f"{choice.stored.definition_id}.{document_id}",
            definition=choice.ref,
            source=facts.source,
            uploaded_by=principal.name,
            key_id=principal.key_id,
            inputs=upload.inputs,
        )
    except DocumentConflict:
        raise KeyConflict(upload.key or document_id, ["file"]) from None
    if differences := list(_differences(document, upload, choice)):
        raise KeyConflict(upload.key or document_id, differences)
    return document


def _differences(document: Document, upload: Upload, choice: Choice) -> Iterator[str]:
    """Yield how the request differs from the first upload with its key; a definition chosen by rules does not count."""
    if document.sla_hours != upload.sla_hours:
        yield "sla_hours"
    if document.source != upload.source:
        yield "source"
    if upload.definition is not None and (document.definition or DEFAULT_DEFINITION) != choice.ref:
        yield "definition"
    names = sorted({*document.inputs, *upload.inputs})
    yield from (f"inputs.{name}" for name in names if document.inputs.get(name) != upload.inputs.get(name))


async def _read(chunks: AsyncIterator[bytes], limit_bytes: int) -> bytes:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > limit_bytes:
            raise TooLarge(limit_bytes)
    if not data:
        raise InvalidInput([InputProblem("file", "is empty")])
    return bytes(data)


def _checked_source(source: str) -> str:
    if not re.fullmatch(SOURCE_PATTERN, source):
        shape = "must be at most 100 letters, digits, spaces and _ . : / @ + -, beginning with a letter or a digit"
        raise InvalidInput([InputProblem("source", shape)])
    return source


def document_id_of(tenant_id: str, key: str | None) -> str:
    """Return a new id of a document; with a key, the same for the same tenant and key. Raises: InvalidInput."""
    if key is None:
        return f"doc_{uuid.uuid4().hex[:26]}"
    return f"doc_{hashlib.sha256(f'{tenant_id}/{checked_key(key)}'.encode()).hexdigest()[:26]}"


FRESH = "fresh"
"""The input that makes a definition read the document again."""


async def extract_again(app: App, principal: Principal, document_id: str, *, key: str | None = None) -> StartedRun:
    """Start a run of `invoice` that reads the document again and renews its review item; the same key, the same run.

    Decisions are based on the reading, so a decided document must be reopened first. Raises: NotFound (the document, or
    the tenant's definition `invoice`), WrongState, InvalidInput (no input `fresh`, bad key), KeyConflict, Unavailable.
    """
    document = await show_document(app, principal, document_id)
    review = await load_review(app.db, principal.tenant_id, review_id_of(principal.tenant_id, document_id))
    if review is not None and review.status in (APPROVED, REJECTED):
        raise WrongState("read the document again", review.status, "review item")
    own = f"{document_id}-{uuid.uuid4().hex[:12] if key is None else checked_key(key)}"
    stored = await resolve(app, principal, DEFAULT_DEFINITION, key=document_id)
    if FRESH not in stored.body.get("inputs", {}):
        message = f"has no input {FRESH!r}, which makes it read again: declare one of the type boolean"
        raise InvalidInput([InputProblem(DEFAULT_DEFINITION, message)])
    given = inputs_of(document, stored) | {FRESH: True}
    started = await begin_run(app, principal, stored, given, checked_key(own), document=context_of(document))
    await mark_read_again(app.db, principal.tenant_id, document_id)
    return started
