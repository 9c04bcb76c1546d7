"""Load a document's original bytes, and images of its pages."""

import asyncio
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

from docrail.adapters.sandbox.reader import DocumentReader, ReaderDiedError
from docrail.adapters.store.blobs import BlobDamaged, BlobMissing, BlobStore, blob_path
from docrail.invoices.problems import UnreadableDocument
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import Document
from docrail.services.documents.repository.page_images import image_tag, keep_image, load_image
from docrail.services.documents.service import show_document
from docrail.services.errors import NotFound, Unavailable, WrongState

TURN_SECONDS = 10.0
"""Timeout for a request's turn while other pages are rendered."""
REMEMBERED_SECONDS, MOST_REMEMBERED = 300.0, 1000
"""Pages that could not be rendered are not retried for this long."""

Key = tuple[str, int]
"""The sha256 of a document's bytes, and a page number."""


@dataclass(frozen=True, slots=True)
class NoPicture:
    """A page cannot be rendered: the document is `unreadable`, with the reason, or has no such page (None)."""

    unreadable: str | None


@dataclass(frozen=True, slots=True)
class PageImage:
    """The image of a page as PNG; `tag` identifies it, as for an ETag."""

    tag: str
    data: bytes


class Drawings:
    """Renders pages one at a time, coalesces requests for the same page, and remembers failures."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._drawn: dict[Key, asyncio.Task[bytes | NoPicture]] = {}
        self._failed: dict[Key, tuple[float, NoPicture]] = {}

    async def draw(self, blobs: BlobStore, reader: DocumentReader, key: Key) -> bytes | NoPicture:
        """Render a page and store its image. Raises: Unavailable (no turn in time), BlobDamaged, OSError."""
        until, failure = self._failed.get(key, (0.0, None))
        if failure is not None and time.monotonic() < until:
            return failure
        drawing = self._drawn.get(key)
        if drawing is None:
            drawing = self._drawn[key] = asyncio.create_task(self._in_turn(blobs, reader, key))
            drawing.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(drawing)  # cancelling one request must not cancel the others

    async def _in_turn(self, blobs: BlobStore, reader: DocumentReader, key: Key) -> bytes | NoPicture:
        try:
            await asyncio.wait_for(self._turn.acquire(), TURN_SECONDS)
        except TimeoutError:
            waited = f"other pages were being drawn for {TURN_SECONDS:g} seconds; ask again"
            raise Unavailable("the drawing of pages", waited) from None
        try:
            return await _drawn(blobs, reader, key)
        finally:
            self._turn.release()

    def _ended(self, key: Key, done: asyncio.Task[bytes | NoPicture]) -> None:
        del self._drawn[key]
        if done.cancelled() or done.exception() is not None:
            return
        outcome = done.result()
        if isinstance(outcome, NoPicture):
            self._failed.pop(key, None)
            self._failed[key] = time.monotonic() + REMEMBERED_SECONDS, outcome
            while len(self._failed) > MOST_REMEMBERED:
                del self._failed[next(iter(self._failed))]


async def load_original(app: App, principal: Principal, document_id: str) -> tuple[Document, bytes]:
    """Return the tenant's document and its original bytes. Raises: NotFound, Unavailable, OSError."""
    document = await _with_original(app, principal, document_id)
    try:
        return document, await app.blobs.get(document.sha256)
    except BlobMissing:
        raise _gone(document) from None
    except BlobDamaged as error:
        raise Unavailable("the store of originals", str(error)) from error


async def draw_page(app: App, drawings: Drawings, principal: Principal, document_id: str, number: int) -> PageImage:
    """Return page `number`, from 1, of the tenant's document. It is rendered once, in a restricted child process.

    Raises: NotFound (also if nothing is printed, as for an e-invoice), WrongState (the document cannot be opened),
    Unavailable, OSError.
    """
    document = await _with_original(app, principal, document_id)
    sha256 = document.sha256
    image: bytes | NoPicture | None = await load_image(app.blobs.folder, sha256, number)
    if image is None:
        try:
            image = await drawings.draw(app.blobs, app.reader, (sha256, number))
        except (BlobMissing, FileNotFoundError):
            raise _gone(document) from None
        except BlobDamaged as error:
            raise Unavailable("the store of originals", str(error)) from error
        except ReaderDiedError as error:
            raise Unavailable("the reading of documents", str(error)) from error
    if isinstance(image, bytes):
        return PageImage(image_tag(sha256, number), image)
    if image.unreadable is not None:
        raise WrongState("draw a page", f"unreadable: {image.unreadable}", "document")
    raise NotFound("page", f"{number} of {document_id}")


async def _with_original(app: App, principal: Principal, document_id: str) -> Document:
    """Return the tenant's document.

    Raises: NotFound, also if its bytes were removed, even if others have sent them again.
    """
    document = await show_document(app, principal, document_id)
    if document.original_removed_at is not None:
        raise _gone(document)
    if await asyncio.to_thread(app.blobs.folder.stat, blob_path(document.sha256)) is None:
        raise _gone(document)
    return document


def _gone(document: Document) -> NotFound:
    return NotFound("original of the document", document.document_id, deleted_at=document.original_removed_at)


async def _drawn(blobs: BlobStore, reader: DocumentReader, key: Key) -> bytes | NoPicture:
    sha256, number = key
    async with blobs.at_hand(sha256) as path:
        await asyncio.to_thread(_check, path, sha256)
        try:
            image = await reader.draw(path, number)
        except UnreadableDocument as error:
            return NoPicture(error.message)
    if image is None:
        return NoPicture(None)
    await keep_image(blobs.folder, sha256, number, image)
    return image


def _check(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise BlobDamaged(sha256, found)
