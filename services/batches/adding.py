"""Add documents to a batch: by their ids, one file at a time, or a zip file of many.

A document's id follows from the batch and its content, so that sending it again adds nothing: the same content is one
document of the batch, wherever it lies. A place has one content.
"""

import asyncio
import hashlib
import mimetypes
import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import IO

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.batches import repository
from docrail.services.batches.archives import empty_in, entries_of, open_archive, read_entry
from docrail.services.batches.models import (
    FIRST_DUPLICATES,
    Added,
    AddedDocument,
    Batch,
    BatchOrder,
    DuplicatePlace,
    StoredBatch,
)
from docrail.services.batches.service import close_batch, create_batch, find_batch, show_batch, wake
from docrail.services.definitions.resolving import Resolver
from docrail.services.documents.models import Document
from docrail.services.documents.service import load_documents
from docrail.services.errors import InvalidInput, NotFound, PlaceTaken, TooLarge, WrongState
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE, Upload, store_for_batch

AT_ONCE = 8
"""Files of a zip that are stored in parallel, as each waits for the disk, and added in one transaction."""
MOST_BYTES_AT_ONCE = 50_000_000
"""Size of these files together, unless it is a single one."""
MOST_UNREADABLE = 50


@dataclass(frozen=True, slots=True)
class File:
    """A file at its place. Its media type is the caller's claim."""

    place: str
    file_name: str
    media_type: str
    chunks: AsyncIterator[bytes]
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Values for the definition's inputs; they replace those of the batch."""


async def order_batch(app: App, principal: Principal, order: BatchOrder, *, key: str | None = None) -> Batch:
    """Order a batch with the documents that the order names; the same key again returns the same batch.

    Raises: as `create_batch`, and NotFound (a document; nothing is ordered then).
    """
    if order.document_ids:
        await _check_ids(app, principal, order.document_ids)
    shown = await create_batch(app, principal, order, key=key)
    if order.document_ids and not shown.is_closed:
        await append_documents(app, principal, shown.batch_id, order.document_ids)
    if order.close and not shown.is_closed:
        return await close_batch(app, principal, shown.batch_id)
    return await show_batch(app, principal, shown.batch_id)


async def append_documents(app: App, principal: Principal, batch_id: str, document_ids: Sequence[str]) -> Added:
    """Add uploaded documents; the batch starts a run of each. Safe to repeat.

    Raises: NotFound (the batch, or a document: nothing is added then), WrongState (it is closed).
    """
    await find_batch(app.db, principal, batch_id)
    await _check_ids(app, principal, document_ids)
    wanted = [*dict.fromkeys(document_ids)]
    async with transaction(app.db) as tx:
        batch = await _open(tx, principal, batch_id)
        new = await repository.insert_documents(
            tx, principal.tenant_id, batch_id, wanted, wanted, key_id=principal.key_id
        )
    await _wake_if_idle(app, batch, new=len(new))
    return Added(batch_id, len(new), len(wanted) - len(new), 0, [], [])


async def add_file(
    app: App, principal: Principal, batch_id: str, file: File, *, document_id: str | None = None
) -> AddedDocument:
    """Add a file; the same content again is the same document, unless the caller gives the document's id.

    Raises: NotFound, WrongState (the batch is closed), PlaceTaken (the place has another content), InvalidInput,
    TooLarge, QuotaExceeded.
    """
    batch = await find_batch(app.db, principal, batch_id)
    data = await _read(file, app.max_upload_bytes)
    sha256 = await asyncio.to_thread(_sha256, data)
    content = _Content(file.place, file.file_name, file.media_type, data, sha256, file.inputs, document_id)
    [added] = await _add(app, principal, batch, [content], Resolver(app, principal))
    await _wake_if_idle(app, batch, new=int(added.is_new))
    return added


async def add_zip(app: App, principal: Principal, batch_id: str, file: IO[bytes], *, close: bool = False) -> Added:
    """Add the files of a zip file, whose names are their places. If it is cut off, sending it again goes on.

    Nothing is added if the zip file as a whole is refused. Raises: UnsafeArchive, NothingReadable, and as `add_file`.
    """
    batch = await find_batch(app.db, principal, batch_id)
    _require_open(batch)
    limits = {"most_file_bytes": app.max_upload_bytes, "most_zip_bytes": app.max_zip_bytes}
    archive = await asyncio.to_thread(lambda: open_archive(file, **limits))
    found = [each async for each in _unpacked(app, principal, batch, archive)]
    if close:
        await close_batch(app, principal, batch_id)
    duplicates = [DuplicatePlace(each.place, each.document.document_id) for each in found if each.is_duplicate]
    new = sum(each.is_new for each in found)
    return Added(
        batch_id,
        new,
        len(found) - new - len(duplicates),
        len(duplicates),
        duplicates[:FIRST_DUPLICATES],
        empty_in(archive)[:MOST_UNREADABLE],
    )


@dataclass(frozen=True, slots=True)
class _Content:
    place: str
    file_name: str
    media_type: str
    data: bytes
    sha256: str
    inputs: Mapping[str, Json] = field(default_factory=dict)
    document_id: str | None = None
    """None: it follows from the batch and the content."""


async def _unpacked(
    app: App, principal: Principal, batch: StoredBatch, archive: zipfile.ZipFile
) -> AsyncIterator[AddedDocument]:
    """Add the files of the archive, some in one transaction."""
    entries, resolver = entries_of(archive), Resolver(app, principal)
    await _check_room(app, principal, batch, entries)

    def read(entry: zipfile.ZipInfo) -> _Content:
        data, media_type = read_entry(archive, entry), mimetypes.guess_type(entry.filename)[0] or UNKNOWN_MEDIA_TYPE
        return _Content(entry.filename, entry.filename, media_type, data, _sha256(data))

    async def add(group: Sequence[zipfile.ZipInfo]) -> list[AddedDocument]:
        contents = [await asyncio.to_thread(read, entry) for entry in group]  # one by one: they share the zip file
        return await _add(app, principal, batch, contents, resolver)

    for group in _groups(entries):
        for each in await add(group):
            yield each
        await _wake_if_idle(app, batch, new=len(group))


def _groups(entries: Sequence[zipfile.ZipInfo]) -> Iterator[list[zipfile.ZipInfo]]:
    """Yield the entries in groups that are in memory at the same time."""
    group, bytes_left = list[zipfile.ZipInfo](), MOST_BYTES_AT_ONCE
    for entry in entries:
        if group and (len(group) == AT_ONCE or entry.file_size > bytes_left):
            yield group
            group, bytes_left = [], MOST_BYTES_AT_ONCE
        group.append(entry)
        bytes_left -= entry.file_size
    if group:
        yield group


async def _check_room(app: App, principal: Principal, batch: StoredBatch, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse a zip file of more documents than the tenant may send today, before any is stored."""
    places = [entry.filename for entry in entries]
    known = await repository.load_known(app.db, principal.tenant_id, batch.batch_id, places)
    if left := len(places) - len(known):
        await app.quotas.use_documents(app.db, principal, left)
        await app.quotas.return_documents(app.db, principal, left)  # each is counted when it is stored


async def _add(
    app: App, principal: Principal, batch: StoredBatch, contents: Sequence[_Content], resolver: Resolver
) -> list[AddedDocument]:
    """Add the documents, all or none of them, and return them in their order. Their places differ."""
    tenant_id, batch_id = batch.tenant_id, batch.batch_id
    ids = {each.place: each.document_id or _document_id(batch, each.sha256) for each in contents}
    known = await repository.load_known(app.db, tenant_id, batch_id, [*ids])
    stored = await load_documents(app.db, tenant_id, [*ids.values()])
    added, missing = dict[str, AddedDocument](), list[_Content]()
    for each in contents:
        document_id, is_duplicate = known.get(each.place, (None, False))
        if document_id not in (None, ids[each.place]):
            raise PlaceTaken(each.place)
        if document_id in stored:
            added[each.place] = AddedDocument(stored[document_id], each.place, is_new=False, is_duplicate=is_duplicate)
        else:
            missing.append(each)
    unstored = len({ids[each.place] for each in missing} - stored.keys())
    if unstored:
        _require_open(batch)
        await app.quotas.use_documents(app.db, principal, unstored)
    if missing:
        try:
            added |= await _store(app, principal, batch, [(ids[each.place], each) for each in missing], resolver)
        except Exception:
            await app.quotas.return_documents(app.db, principal, unstored)
            raise
    return [added[each.place] for each in contents]


async def _store(
    app: App, principal: Principal, batch: StoredBatch, contents: Sequence[tuple[str, _Content]], resolver: Resolver
) -> dict[str, AddedDocument]:
    """Store and add documents, given by their ids; return them by their places."""
    keep = partial(store_for_batch, app, principal, resolver)
    inserts = await asyncio.gather(
        *(keep(_upload(batch, each), each.data, batch.batch_id, document_id) for document_id, each in contents)
    )
    # In one order for all batches: the first document of equal bytes stays locked until the commit.
    by_hash = sorted(zip(contents, inserts, strict=True), key=lambda pair: pair[0][1].sha256)
    async with transaction(app.db) as tx:
        await _open(tx, principal, batch.batch_id, exclusive=len(contents) > 1)
        documents = {each.place: await insert(tx) for (_, each), insert in by_hash}
        return {each.place: await _place(tx, documents[each.place], batch, each.place) for _, each in contents}


async def _place(tx: Database, document: Document, batch: StoredBatch, place: str) -> AddedDocument:
    tenant_id, batch_id, document_id = batch.tenant_id, batch.batch_id, document.document_id
    if await repository.insert_documents(tx, tenant_id, batch_id, [document_id], [place], key_id=document.key_id):
        return AddedDocument(document, place, is_new=True, is_duplicate=False)
    known = (await repository.load_known(tx, tenant_id, batch_id, [place])).get(place)
    if known is None:
        await repository.insert_duplicates(tx, tenant_id, batch_id, [document_id], [place])
        return AddedDocument(document, place, is_new=False, is_duplicate=True)
    if known[0] != document_id:  # another request has just put another content there
        raise PlaceTaken(place)
    return AddedDocument(document, place, is_new=False, is_duplicate=known[1])


def _upload(batch: StoredBatch, content: _Content) -> Upload:
    wanted = batch.wanted
    return Upload(
        chunks=_nothing(),
        file_name=content.file_name,
        media_type=content.media_type,
        sla_hours=wanted.sla_hours,
        source=wanted.source,
        definition=wanted.definition,
        inputs={**wanted.inputs, **content.inputs},
    )


async def _nothing() -> AsyncIterator[bytes]:
    """Yield nothing: the bytes have been read."""
    return
    yield b""


async def _read(file: File, limit_bytes: int) -> bytes:
    data = bytearray()
    async with aclosing(file.chunks):  # type: ignore[type-var]  # an async generator
        async for chunk in file.chunks:
            data += chunk
            if len(data) > limit_bytes:
                raise TooLarge(limit_bytes)
    if not data:
        raise InvalidInput([InputProblem("file", "is empty")])
    return bytes(data)


async def _open(tx: Database, principal: Principal, batch_id: str, *, exclusive: bool = False) -> StoredBatch:
    """Return the batch, which no one can close until the transaction ends.

    `exclusive`: nor add to, since two transactions that insert several places could lock each other.
    Raises: WrongState.
    """
    load = repository.lock_batch if exclusive else repository.share_batch
    batch = await load(tx, principal.tenant_id, batch_id)
    assert batch is not None, "no batch is ever deleted"
    _require_open(batch)
    return batch


def _require_open(batch: StoredBatch) -> None:
    if batch.closed_at is not None:
        raise WrongState("add documents", "closed", "batch", advice="order another one")


async def _check_ids(app: App, principal: Principal, document_ids: Sequence[str]) -> None:
    found = await load_documents(app.db, principal.tenant_id, [each for each in document_ids if "\0" not in each])
    for document_id in document_ids:
        if document_id not in found:
            raise NotFound("document", document_id)


async def _wake_if_idle(app: App, batch: StoredBatch, *, new: int) -> None:
    """Wake the batch's workflow, unless documents wait or run that its window sees anyway."""
    if new and not await repository.has_open(app.db, batch.tenant_id, batch.batch_id, more_than=new):
        await wake(app, batch, "append")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _document_id(batch: StoredBatch, sha256: str) -> str:
    text = f"{batch.tenant_id}/{batch.batch_id}/{sha256}"
    return f"doc_{hashlib.sha256(text.encode()).hexdigest()[:26]}"
