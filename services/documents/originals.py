"""Load a document's original bytes, images of its pages, and the words on them."""

import asyncio
import hashlib
import logging
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from docrail.adapters.sandbox.reader import DocumentReader, ReaderDiedError
from docrail.adapters.store.blobs import BlobDamaged, BlobMissing, BlobStore, blob_path
from docrail.adapters.store.checked import CheckedFile
from docrail.invoices.page_text import PlacedWord
from docrail.invoices.problems import UnreadableDocument
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import Document
from docrail.services.documents.repository.page_images import (
    Size,
    image_tag,
    keep_image,
    keep_words_of_page,
    load_image,
    load_words,
)
from docrail.services.documents.service import show_document
from docrail.services.errors import NotFound, Unavailable, WrongState
from docrail.services.model_config import SHOWN
from docrail.services.turns import Turns

__all__ = ["Drawings", "PageImage", "PageWords", "Size", "draw_page", "open_original", "show_words"]

TURN_SECONDS, PAGES_WAITING = 10.0, 200
"""Timeout for a request's turn while other pages are rendered, and how many wait for one."""
REMEMBERED_SECONDS, MOST_REMEMBERED = 300.0, 1000
"""Pages that could not be rendered are not retried for this long."""

Key = tuple[str, int, Size]
"""The sha256 of a document's bytes, a page number, and the size of the picture."""

AHEAD_PAGES = 2
"""Pages drawn before anyone looks at them; most invoices have no more."""
MOST_WAITING = 500
"""Documents whose pages wait to be drawn ahead; those of more are drawn when someone looks."""

log = logging.getLogger(__name__)


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
    """Renders pages one at a time, of tenants in rotation; coalesces requests for the same page; remembers failures."""

    def __init__(self) -> None:
        self._turns = Turns(1, PAGES_WAITING)
        self._drawn: dict[Key, asyncio.Task[bytes | NoPicture]] = {}
        self._failed: dict[Key, tuple[float, NoPicture]] = {}

    async def draw(self, tenant_id: str, blobs: BlobStore, reader: DocumentReader, key: Key) -> bytes | NoPicture:
        """Render a page and store its image. Raises: Unavailable (no turn in time), Busy, BlobDamaged, OSError."""
        until, failure = self._failed.get(key, (0.0, None))
        if failure is not None and time.monotonic() < until:
            return failure
        drawing = self._drawn.get(key)
        if drawing is None:
            drawing = self._drawn[key] = asyncio.create_task(self._in_turn(tenant_id, blobs, reader, key))
            drawing.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(drawing)  # cancelling one request must not cancel the others

    async def _in_turn(self, tenant_id: str, blobs: BlobStore, reader: DocumentReader, key: Key) -> bytes | NoPicture:
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(TURN_SECONDS):
                    await turn.enter_async_context(self._turns.of(tenant_id))
            except TimeoutError:
                waited = f"other pages were being drawn for {TURN_SECONDS:g} seconds; ask again"
                raise Unavailable("the drawing of pages", waited) from None
            return await _drawn(blobs, reader, key)

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


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page, in reading order."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    words: list[PlacedWord]


class DrawAhead:
    """Draws the first pages of documents that will be looked at, one after the other, while no document is read.

    What is lost with the process is drawn when someone looks.
    """

    def __init__(self, blobs: BlobStore, reader: DocumentReader) -> None:
        self._blobs, self._reader = blobs, reader
        self._waiting: asyncio.Queue[tuple[str, int]] = asyncio.Queue(MOST_WAITING)
        self._task: asyncio.Task[None] | None = None

    def add(self, sha256: str, page_count: int) -> None:
        """Draw the first pages of these bytes, unless too many others wait."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        with suppress(asyncio.QueueFull):
            self._waiting.put_nowait((sha256, min(page_count, AHEAD_PAGES)))

    async def close(self) -> None:
        """Stop drawing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            sha256, pages = await self._waiting.get()
            for number in range(1, pages + 1):
                try:
                    await self._draw((sha256, number, "full"))
                    await self._draw((sha256, number, "small"))
                except (OSError, BlobDamaged) as error:
                    log.info("page %s of %s is not drawn ahead: %r", number, sha256, error)

    async def _draw(self, key: Key) -> None:
        if await load_image(self._blobs.folder, *key) is None:
            await self._reader.at_rest()
            await _drawn(self._blobs, self._reader, key)


async def open_original(app: App, principal: Principal, document_id: str) -> tuple[Document, CheckedFile]:
    """Return the tenant's document and its original file. Raises: NotFound, Unavailable, OSError."""
    document = await _with_original(app, principal, document_id)
    try:
        return document, await app.blobs.open(document.sha256)
    except BlobMissing:
        raise _gone(document) from None
    except BlobDamaged as error:
        raise Unavailable("the store of originals", str(error)) from error


async def draw_page(
    app: App, drawings: Drawings, principal: Principal, document_id: str, number: int, size: Size = "full"
) -> PageImage:
    """Return page `number`, from 1, of the tenant's document. It is rendered once, in a restricted child process.

    Raises: NotFound (also if nothing is printed, as for an e-invoice), WrongState (the document cannot be opened),
    Unavailable, OSError.
    """
    document = await _with_original(app, principal, document_id)
    sha256 = document.sha256
    image: bytes | NoPicture | None = await load_image(app.blobs.folder, sha256, number, size)
    if image is None:
        try:
            image = await drawings.draw(principal.tenant_id, app.blobs, app.reader, (sha256, number, size))
        except (BlobMissing, FileNotFoundError):
            raise _gone(document) from None
        except BlobDamaged as error:
            raise Unavailable("the store of originals", str(error)) from error
        except ReaderDiedError as error:
            raise Unavailable("the reading of documents", str(error)) from error
    if isinstance(image, bytes):
        return PageImage(image_tag(sha256, number, size), image)
    if image.unreadable is not None:
        raise WrongState("draw a page", f"unreadable: {image.unreadable}", "document")
    raise NotFound("page", f"{number} of {document_id}")


async def show_words(app: App, principal: Principal, document_id: str, number: int) -> PageWords:
    """Return the words of page `number`, from 1. They are stored as the document is read.

    Raises: as `draw_page`.
    """
    document = await _with_original(app, principal, document_id)
    words = await load_words(app.blobs.folder, document.sha256, number)
    if words is None:
        words = await _read_words(app, document, number)
    return PageWords(words)


async def _read_words(app: App, document: Document, number: int) -> list[PlacedWord]:
    """Read the words of a page now, and store them: they were not stored when the document was read."""
    try:
        async with app.blobs.at_hand(document.sha256) as path:
            await asyncio.to_thread(_check, path, document.sha256)
            words = await app.reader.words(path, number)
    except (BlobMissing, FileNotFoundError):
        raise _gone(document) from None
    except BlobDamaged as error:
        raise Unavailable("the store of originals", str(error)) from error
    except ReaderDiedError as error:
        raise Unavailable("the reading of documents", str(error)) from error
    except UnreadableDocument as error:
        raise WrongState("read a page", f"unreadable: {error.message}", "document") from None
    if words is None:
        raise NotFound("page", f"{number} of {document.document_id}")
    await keep_words_of_page(app.blobs.folder, document.sha256, number, words)
    return words


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
    sha256, number, size = key
    async with blobs.at_hand(sha256) as path:
        await asyncio.to_thread(_check, path, sha256)
        try:
            image = await reader.draw(path, number, small=size == "small")
        except UnreadableDocument as error:
            return NoPicture(error.message)
    if image is None:
        return NoPicture(None)
    await keep_image(blobs.folder, sha256, number, size, image)
    return image


def _check(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise BlobDamaged(sha256, found)
