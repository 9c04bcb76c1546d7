"""Opens a PDF as a file: is it safe, how many pages, what is embedded. What is printed is read by pdf_words.py."""

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pikepdf

from invoices.problems import Unreadable, UnreadableDocument

MAX_CONTENT_BYTES = 32 * 1024 * 1024
"""Unpacked drawing instructions of a page. A dense page has well under 1 MB; a bomb of 1.2 kB unpacks to 300."""
MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
ACTIVE_ACTIONS = frozenset({"/JavaScript", "/Launch", "/SubmitForm", "/ImportData"})
PRINT_AGAIN = "Print the document into a new PDF and send that."


@dataclass(frozen=True, slots=True)
class PdfFile:
    """What is known of a PDF before its pages are read."""

    page_count: int
    flags: tuple[str, ...]
    attachments: tuple[bytes, ...]
    """Embedded files that may be XML."""


def open_pdf(data: bytes, max_pages: int) -> PdfFile:
    """Return the facts about a PDF. Raises: UnreadableDocument for locked, broken, endless and malicious ones."""
    try:
        pdf = pikepdf.open(io.BytesIO(data))
    except pikepdf.PasswordError as error:
        raise UnreadableDocument(
            Unreadable.ENCRYPTED,
            "The PDF is locked with a password. Ask the sender for it, or print the PDF into one without a password.",
        ) from error
    except pikepdf.PdfError as error:
        raise _damaged(str(error)) from error
    with pdf:
        try:
            return _facts(pdf, data, max_pages)
        except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError) as error:
            if isinstance(error, UnreadableDocument):
                raise
            raise _damaged(str(error)) from error


def _facts(pdf: pikepdf.Pdf, data: bytes, max_pages: int) -> PdfFile:
    page_count = len(pdf.pages)
    if page_count == 0:
        raise _damaged("it has no pages")
    if page_count > max_pages:
        raise UnreadableDocument(
            Unreadable.TOO_MANY_PAGES,
            f"The PDF has {page_count} pages; at most {max_pages} are read. "
            "Send the invoice alone, without its attachments.",
        )
    for page in pdf.pages:
        _refuse_bomb(page)
    facts = {
        "has_active_content": _has_active_content(pdf),
        "encrypted": pdf.is_encrypted,
        "data_before_header": not data.startswith(b"%PDF-"),
        "repaired": bool(pdf.get_warnings()),
    }
    return PdfFile(page_count, tuple(name for name, holds in facts.items() if holds), tuple(_attachments(pdf)))


def _refuse_bomb(page: pikepdf.Page) -> None:
    contents = page.obj.get("/Contents")
    streams = contents if isinstance(contents, pikepdf.Array) else [contents]
    size = 0
    for stream in streams:
        if isinstance(stream, pikepdf.Stream):
            size += _unpacked_size(stream, MAX_CONTENT_BYTES - size)
        if size > MAX_CONTENT_BYTES:
            raise UnreadableDocument(
                Unreadable.UNSAFE,
                f"A page of the PDF unpacks to more than {MAX_CONTENT_BYTES >> 20} MB of drawing instructions, "
                f"as files made to break a reader do. {PRINT_AGAIN}",
            )


def _unpacked_size(stream: pikepdf.Stream, limit: int) -> int:
    """Return the stream's unpacked size, or something above `limit`, never unpacking more than that."""
    raw = stream.read_raw_bytes()
    filters = stream.get("/Filter")
    names = [filters] if isinstance(filters, pikepdf.Name) else list(filters or [])
    for name in names:
        if name != "/FlateDecode":
            return len(raw)
        try:
            raw = zlib.decompressobj().decompress(raw, limit + 1)
        except zlib.error:
            return len(raw)
    return len(raw)


def _has_active_content(pdf: pikepdf.Pdf) -> bool:
    """Look where actions start: the document's opening, its named scripts, its pages and what is clicked on them."""
    root = pdf.Root
    if "/JavaScript" in (root.get("/Names") or {}) or "/AA" in root:
        return True
    holders = [root.get("/OpenAction"), *(annotation.get("/A") for annotation in _annotations(pdf))]
    return any("/AA" in page.obj for page in pdf.pages) or any(_is_active(holder) for holder in holders)


def _is_active(action: object) -> bool:
    if not isinstance(action, pikepdf.Dictionary):
        return False
    return str(action.get("/S", "")) in ACTIVE_ACTIONS or "/JS" in action or _is_active(action.get("/Next"))


def _annotations(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Dictionary]:
    for page in pdf.pages:
        annotations = page.obj.get("/Annots")
        if isinstance(annotations, pikepdf.Array):
            yield from (item for item in annotations if isinstance(item, pikepdf.Dictionary))


def _attachments(pdf: pikepdf.Pdf) -> Iterator[bytes]:
    """Yield embedded files that begin like XML, whatever their names: senders write them in every way."""
    for name in sorted(pdf.attachments, key=str.lower):
        try:
            data = pdf.attachments[name].get_file().read_bytes()
        except (pikepdf.PdfError, ValueError, KeyError):
            continue  # a broken attachment is as good as none: the page is still there
        head = data[:64].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \r\n\t")
        if head.startswith(b"<") and len(data) <= MAX_ATTACHMENT_BYTES:
            yield data


def _damaged(detail: str) -> UnreadableDocument:
    detail = re.sub(r"^stream <[^>]*>: ", "", detail)
    return UnreadableDocument(
        Unreadable.DAMAGED,
        f"The file begins like a PDF but is damaged ({detail[:200]}). Send it again; if it opens on your screen, "
        "print it into a new PDF and send that.",
    )
