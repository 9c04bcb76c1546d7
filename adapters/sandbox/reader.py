"""Open documents in restricted child processes, each forked from a preloaded server."""

import asyncio
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from pydantic import Base64Bytes, BaseModel, ValidationError

from docrail.adapters.sandbox.forker import ChildDiedError, ChildLimits, ChildTimedOutError, Forker, ServerDiedError
from docrail.adapters.sandbox.server import ReadingLimits, ReadingRequest
from docrail.invoices.by_schema.reading import FieldsReading
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.model import Box, InvoiceData
from docrail.invoices.page_text import PageText, PlacedWord
from docrail.invoices.problems import Unreadable, UnreadableDocument

LOOK_CPU_SECONDS, LOOK_WALL_SECONDS = 20, 30.0
"""Limits for examining pages: a person, or an attempt with a paid answer, waits for the result."""
REST_SECONDS = 0.5
_MEMORY_HINT = "An invoice of a few pages needs a small part of that. Print the document into a new PDF and send that."
Record = Callable[[str, float], None]


class ReaderDiedError(OSError):
    """The reading server was killed twice while working on one document. Says nothing about the document."""


class _Answer(BaseModel, extra="forbid"):
    """A child's answer: exactly one of these; a reading comes with the `page_words`, if they are not too many."""

    invoice: InvoiceData | None = None
    drawn: Base64Bytes | None = None
    """A page as PNG, empty if there is no such page; or pages as PDF."""
    pages: list[PageText] | None = None
    """The text of the pages."""
    words: list[list[tuple[str, Box]]] | None = None
    """The words of a page."""
    page_words: bytes = b""
    """The words of all pages, as text that is not validated."""
    fields: FieldsReading | None = None
    """The fields of a schema."""
    unreadable: tuple[Unreadable, str] | None = None
    os_error: tuple[int, str] | None = None
    out_of_memory: bool = False
    bug: str | None = None
    cpu_seconds: float = 0.0
    """CPU seconds that the child used until its answer."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A reading, and the words of its pages as JSON that is not validated.

    The words are empty if they are too many, or there are no pages.
    """

    invoice: InvoiceData
    words: bytes


class DocumentReader:
    """Read documents, at most `workers` at once. Safe to use from many tasks of one event loop.

    `record` is called after each reading with the reader whose values won, or `unreadable`, and the CPU seconds used.
    """

    def __init__(self, workers: int = 2, limits: ReadingLimits | None = None, record: Record | None = None) -> None:
        self.limits = limits or ReadingLimits()
        self._record = record or (lambda _reader, _cpu_seconds: None)
        self._open = 0
        self._rest = asyncio.Event()
        self._rest.set()
        self._read_at = -math.inf
        """When a document was last closed, by the monotonic clock."""
        self._forker = Forker("docrail.adapters.sandbox.server", at_once=workers)

    @property
    def server_pid(self) -> int | None:
        """Return the process id of the server that forks the children; None before it has started."""
        return self._forker.server_pid

    async def start(self) -> None:
        """Start the server now, so that the first document does not wait for it."""
        await self._forker.start()

    async def read(self, path: Path) -> InvoiceData:
        """Return the reading of the document at `path`. Raises: as `read_with_words`."""
        return (await self.read_with_words(path)).invoice

    async def read_with_words(self, path: Path) -> ReadDocument:
        """Return the reading of the document at `path`. Cancelling kills the child that reads it.

        Raises: UnreadableDocument (never worth a retry); OSError if the file or the reading server is gone (worth one).
        """
        answer = await self._opened(ReadingRequest(str(path), self.limits))
        if answer.invoice or answer.unreadable:
            self._record(answer.invoice.reader if answer.invoice else "unreadable", answer.cpu_seconds)
        invoice = answer.invoice or self._fail(answer, path)
        return ReadDocument(invoice, answer.page_words)

    async def words(self, path: Path, page: int) -> list[PlacedWord] | None:
        """Return the words of a page, counted from 1; None if there is no such page. Raises: as `check`."""
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), words_of=page))
        if answer.unreadable or answer.os_error or answer.out_of_memory or answer.bug:
            self._fail(answer, path)
        return [PlacedWord(text, box) for text, box in answer.words[0]] if answer.words else None

    async def at_rest(self) -> None:
        """Wait until no document was open for REST_SECONDS, unless to draw a page.

        Between two documents of a batch there is no rest.
        """
        while True:
            await self._rest.wait()
            left = self._read_at + REST_SECONDS - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)

    async def check(self, path: Path, claims: dict[str, Any]) -> InvoiceData:
        """Return the fields of `claims` (claims_of in invoices/llm/page_check.py), checked against the pages' text.

        Raises: as `read`, also for a document whose pages cannot be searched within the time limit.
        """
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), claims))
        return answer.invoice or self._fail(answer, path)

    async def read_fields(self, path: Path, schema: FieldsSchema) -> FieldsReading:
        """Return the fields of `schema` as the labels on the pages name them. Raises: as `read`."""
        return await self._fields(path, ReadingRequest(str(path), self.limits, schema=schema.model_dump(mode="json")))

    async def check_fields(
        self, path: Path, schema: FieldsSchema, reading: FieldsReading, quotes: dict[str, str]
    ) -> FieldsReading:
        """Return a model's `reading`, checked against the pages' text. Raises: as `check`."""
        answered = {"reading": reading.model_dump(mode="json"), "quotes": quotes}
        plain = schema.model_dump(mode="json")
        return await self._fields(path, ReadingRequest(str(path), self._for_a_look(), schema=plain, answered=answered))

    async def _fields(self, path: Path, request: ReadingRequest) -> FieldsReading:
        answer = await self._opened(request)
        return answer.fields or self._fail(answer, path)

    async def draw(self, path: Path, page: int, *, small: bool = False) -> bytes | None:
        """Return a page, counted from 1, as PNG; None if it does not exist or cannot be rendered.

        Raises: as `check`.
        """
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), page=page, small=small))
        return self._fail(answer, path) if answer.drawn is None else answer.drawn or None

    async def as_pdf(self, path: Path) -> bytes:
        """Return the pages of an image file as PDF. Raises: as `check`."""
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), as_pdf=True))
        return answer.drawn or self._fail(answer, path)

    async def cut(self, path: Path, first: int, last: int) -> bytes:
        """Return the pages of a PDF from `first` to `last`, counted from 1, as a PDF. Raises: as `check`."""
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), cut=(first, last)))
        return answer.drawn or self._fail(answer, path)

    async def pages(self, path: Path) -> list[PageText]:
        """Return the pages of a document with their text. Raises: as `read`."""
        answer = await self._opened(ReadingRequest(str(path), self.limits, as_text=True))
        return self._fail(answer, path) if answer.pages is None else answer.pages

    def _for_a_look(self) -> ReadingLimits:
        cpu_seconds = min(LOOK_CPU_SECONDS, self.limits.cpu_seconds)
        wall_seconds = min(LOOK_WALL_SECONDS, self.limits.wall_seconds)
        return replace(self.limits, cpu_seconds=cpu_seconds, wall_seconds=wall_seconds)

    async def _opened(self, request: ReadingRequest) -> _Answer:
        size = (await asyncio.to_thread(Path(request.path).stat)).st_size
        if size > self.limits.max_bytes:
            raise _too_large(size, self.limits.max_bytes)
        self._open += 1
        self._rest.clear()
        try:
            return await self._ask(request)
        finally:
            self._open -= 1
            if request.page is None:
                self._read_at = time.monotonic()
            if not self._open:
                self._rest.set()

    async def close(self) -> None:
        """Stop the server and all children. Reads in progress fail."""
        await self._forker.close()

    async def _ask(self, request: ReadingRequest) -> _Answer:
        limits = request.limits
        most = ChildLimits(limits.memory_bytes, limits.cpu_seconds, limits.wall_seconds)
        try:
            line, _, words = (await self._forker.ask(request.to_line(), most)).partition(b"\n")
            answer = _Answer.model_validate_json(line)
        except ServerDiedError as error:
            raise ReaderDiedError(f"{error}: it read {request.path}") from error
        except ChildTimedOutError:
            raise _timed_out(limits) from None
        except ChildDiedError as error:
            raise _crashed(str(error)) from error
        except ValidationError as error:
            raise _crashed("gave an answer that makes no sense") from error
        return answer.model_copy(update={"page_words": words})

    def _fail(self, answer: _Answer, path: Path) -> NoReturn:
        """Raise the error of an answer without a result."""
        if answer.unreadable:
            raise UnreadableDocument(*answer.unreadable)
        if answer.os_error:
            raise OSError(*answer.os_error, os.fspath(path))
        if answer.out_of_memory:
            limit = self.limits.memory_bytes // 1_000_000
            raise UnreadableDocument(
                Unreadable.UNSAFE, f"Opening this document takes more than {limit} MB of memory. " + _MEMORY_HINT
            )
        raise _crashed(f"failed ({answer.bug})")


def _too_large(size: int, limit: int) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TOO_LARGE,
        f"The file has {size / 1e6:.1f} MB; at most {limit / 1e6:.1f} MB are read. "
        "Send the invoice alone, without attachments, or scan it with a lower resolution.",
    )


def _timed_out(limits: ReadingLimits) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TIMED_OUT,
        f"Reading was stopped after {limits.cpu_seconds} seconds of work or {limits.wall_seconds:.0f} seconds in all; "
        "a page takes at most two. Print the document into a new PDF and send that.",
    )


def _crashed(how: str) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.CRASHED,
        f"The program that opens documents {how}, so the file is probably damaged or malicious. "
        "Open it yourself only if you trust the sender; if it is fine, print it into a new PDF and send that.",
    )
