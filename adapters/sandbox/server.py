"""Open one document: the program of the limited children that forking.py forks and reader.py asks."""

import datetime as dt
import json
import time
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docrail.adapters.memory import settle
from docrail.adapters.sandbox.forking import MAX_ANSWER_BYTES, Program
from docrail.invoices.extent import MAX_PAGES

if TYPE_CHECKING:  # loaded by _preload
    from docrail.invoices.page_text import PlacedWord

CHILDREN_IMPORT = (
    "docrail.invoices.by_schema.read",
    "docrail.invoices.llm.page_check",
    "docrail.invoices.readers.page_image",
    "docrail.invoices.document_text",
    "docrail.invoices.readers.pdf.cut",
    "docrail.invoices.readers.pdf.from_pictures",
    "docrail.invoices.readers.read",
)
"""Modules used by `_answer`: loading one in a child would cost more than a millisecond."""
TOO_MUCH = (
    f"What is read of the document takes more than {MAX_ANSWER_BYTES >> 20} MB: its lines are too many and too long. "
    "Ask the sender to split it."
)
SAW_A_PICTURE = 3
"""Exit code of a child with the OCR's models loaded: the server then loads them too, for all later children."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for opening one document. A 1.2 kB PDF can drive a parser to 600 MB."""

    memory_bytes: int = 1_500_000_000
    cpu_seconds: int = 60
    wall_seconds: float = 90.0
    max_bytes: int = 25 * 1024 * 1024
    max_pages: int = MAX_PAGES


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One document to open."""

    path: str
    limits: ReadingLimits
    claims: dict[str, Any] | None = None
    """A model's values (claims_of in invoices/llm/page_check.py) to look up on the pages; None: read the document."""
    page: int | None = None
    """Only render this page, counted from 1."""
    small: bool = False
    """Render it as a small picture."""
    words_of: int | None = None
    """Only return the words of this page, counted from 1."""
    as_pdf: bool = False
    """Only convert the pages to PDF."""
    cut: tuple[int, int] | None = None
    """Only return these pages, the first and the last, as PDF."""
    as_text: bool = False
    """Only return the text of the pages."""
    schema: dict[str, Any] | None = None
    """Only read the fields of this schema (FieldsSchema in invoices/by_schema/schema.py)."""
    answered: dict[str, Any] | None = None
    """A model's reading by `schema`, and the texts that it quotes, to look up on the pages; None: read them."""

    def to_line(self) -> bytes:
        """Return the request as the line that a child reads."""
        return json.dumps(asdict(self)).encode()  # ASCII also works for file names that are not UTF-8

    @classmethod
    def of_line(cls, line: bytes) -> "ReadingRequest":
        """Return the request written by `to_line`."""
        request = json.loads(line)
        return cls(**request | {"limits": ReadingLimits(**request["limits"])})


def program() -> Program:
    """Return the program of the server's children."""
    return Program(_preload, _answer_line, _exit_code, _child_ended)


def _preload() -> None:
    """Load the modules for the children, once. The imports are local because the worker imports this module too."""
    from docrail.invoices.readers.warm_up import warm_up  # noqa: PLC0415  # heavy: see above

    for name in CHILDREN_IMPORT:
        import_module(name)
    warm_up()


def _load_models() -> None:
    """Load the OCR's models once a document has needed them: most workers see images soon, some never (ADR 0017)."""
    from docrail.invoices.readers.ocr import read as ocr  # noqa: PLC0415  # see _preload

    if not ocr.loaded():
        ocr.warm_up()
        settle()


def _exit_code() -> int:
    from docrail.invoices.readers.ocr import read as ocr  # noqa: PLC0415  # loaded by _preload

    return SAW_A_PICTURE if ocr.loaded() else 0


def _child_ended(code: int) -> None:
    if code == SAW_A_PICTURE:
        _load_models()


def _answer_line(line: bytes) -> bytes:
    return _answer(ReadingRequest.of_line(line))


def _answer(request: ReadingRequest) -> bytes:
    """Return the reading, or the reason for none, as a line of JSON with one of the keys that reader.py expects.

    After the line of a reading come the words of the pages, which are stored as they are and validated when a page is
    shown.
    """
    from docrail.invoices.problems import UnreadableDocument  # noqa: PLC0415  # loaded by _preload

    try:
        data = Path(request.path).read_bytes()
    except OSError as error:
        return json.dumps({"os_error": [error.errno, error.strerror]}).encode()
    try:
        return _opened(request, data)
    except UnreadableDocument as error:
        return json.dumps({"unreadable": [error.code, error.message], "cpu_seconds": time.process_time()}).encode()
    except MemoryError:
        return json.dumps({"out_of_memory": True}).encode()
    except Exception as error:  # noqa: BLE001  # a parser's bug must not look like a dead child
        return json.dumps({"bug": f"{type(error).__name__}: {error}"[:500]}).encode()


def _opened(request: ReadingRequest, data: bytes) -> bytes:
    """Perform the request. Raises: UnreadableDocument, MemoryError, and any error of a faulty parser."""
    from docrail.invoices.by_schema.read import perform  # noqa: PLC0415  # loaded by _preload, as all here
    from docrail.invoices.document_text import placed_words, printed_pages, text_pages, words_of_page  # noqa: PLC0415
    from docrail.invoices.llm.page_check import check_claims  # noqa: PLC0415
    from docrail.invoices.readers.page_image import FEW_PIXELS, MOST_PIXELS, draw_page  # noqa: PLC0415
    from docrail.invoices.readers.pdf.cut import cut_pdf  # noqa: PLC0415
    from docrail.invoices.readers.pdf.from_pictures import pictures_as_pdf  # noqa: PLC0415
    from docrail.invoices.readers.read import read_with_pages  # noqa: PLC0415

    most = request.limits.max_pages
    if request.page is not None:
        size = FEW_PIXELS if request.small else MOST_PIXELS
        return _drawn(draw_page(data, request.page, most, most_pixels=size) or b"")
    if request.words_of is not None:
        found = words_of_page(data, request.words_of, max_pages=most)
        return _sendable(json.dumps({"words": None if found is None else [_plain(found)]}).encode())
    if request.as_pdf or request.cut is not None:
        return _drawn(cut_pdf(data, *request.cut) if request.cut else pictures_as_pdf(data, most))
    if request.as_text:
        return _sendable(json.dumps({"pages": [asdict(page) for page in text_pages(data, max_pages=most)]}).encode())
    if request.schema is not None:
        fields = perform(data, request.schema, request.answered, max_pages=most)
        return _sendable(b'{"fields":%s}' % fields.model_dump_json().encode())
    if request.claims is not None:
        invoice, words = check_claims(request.claims, printed_pages(data, max_pages=most)), b""
    else:
        invoice, pages = read_with_pages(data, today=dt.datetime.now(dt.UTC).date(), max_pages=most)
        words = json.dumps([_plain(placed_words(page)) for page in pages]).encode() if pages else b""
    read = b'{"cpu_seconds":%.4f,"invoice":%s}' % (time.process_time(), invoice.model_dump_json().encode())
    whole = read + b"\n" + words
    return whole if len(whole) <= MAX_ANSWER_BYTES else _sendable(read)


def _plain(words: Sequence["PlacedWord"]) -> list[list[Any]]:
    return [[word.text, word.box] for word in words]


def _sendable(answer: bytes) -> bytes:
    """Return the answer. Raises: UnreadableDocument if it is too large."""
    from docrail.invoices.problems import Unreadable, UnreadableDocument  # noqa: PLC0415  # loaded by _preload

    if len(answer) > MAX_ANSWER_BYTES:
        raise UnreadableDocument(Unreadable.TOO_LARGE, TOO_MUCH)
    return answer


def _drawn(written: bytes) -> bytes:
    return json.dumps({"drawn": b64encode(written).decode()}).encode()
