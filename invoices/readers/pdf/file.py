"""Open a PDF as a file: check its safety, count its pages, extract attachments. words.py reads the text."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from zipfile import is_zipfile

import pikepdf

from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.pdf.bombs import plainly_packed, refuse_bombs, unpack

MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
"""Decompressed size of a possible e-invoice. The largest known ones contain other files and have several MB."""
MAX_ATTACHMENTS = 50
MAX_ACTIONS = 100
"""Most actions followed in a chain; an action may be its own successor."""
HEADER = b"%PDF-"
END_OF_ZIP = b"PK\x05\x06"
"""Begins the last record of each zip file."""
MARKUP = re.compile(rb"<(?:!doctype|html|head|body|script|svg|iframe|\?xml)\b", re.IGNORECASE)
"""Markup by which a browser recognizes a web page without a declared type; mail's `<a@b.example>` does not match."""
ACTIVE_ACTIONS = frozenset({"/JavaScript", "/Launch", "/SubmitForm", "/ImportData"})


@dataclass(frozen=True, slots=True)
class PdfFile:
    """Facts about a PDF known before its pages are read."""

    page_count: int
    flags: tuple[str, ...]
    attachments: tuple[bytes, ...]
    """Embedded files that may be XML."""


def open_pdf(data: bytes, max_pages: int) -> PdfFile:
    """Return the facts about a PDF. Raises: UnreadableDocument for locked, damaged, overlong and malicious files."""
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
        except (pikepdf.PdfError, ValueError, TypeError, AttributeError, LookupError, RuntimeError) as error:
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
            f"The PDF has {page_count} pages; at most {max_pages} are accepted. "
            "Send the invoice alone, without its attachments.",
        )
    refuse_bombs(pdf)
    facts = {
        "has_active_content": _has_active_content(pdf),
        "encrypted": pdf.is_encrypted,
        "data_before_header": not data.startswith(HEADER),
        "markup_before_header": MARKUP.search(data[: max(data.find(HEADER), 0)]) is not None,
        "also_a_zip": END_OF_ZIP in data and is_zipfile(io.BytesIO(data)),
        "repaired": bool(pdf.get_warnings()),
    }
    return PdfFile(page_count, tuple(name for name, holds in facts.items() if holds), tuple(_attachments(pdf)))


def _has_active_content(pdf: pikepdf.Pdf) -> bool:
    """Check where actions start: on opening the document, in its named scripts, on its pages and annotations."""
    root = pdf.Root
    names = root.get("/Names")
    if (isinstance(names, pikepdf.Dictionary) and "/JavaScript" in names) or "/AA" in root:
        return True
    if any("/AA" in page.obj for page in pdf.pages):
        return True
    return _is_active(root.get("/OpenAction")) or any(
        "/AA" in annotation or _is_active(annotation.get("/A")) for annotation in _annotations(pdf)
    )


def _is_active(action: object) -> bool:
    """Return whether an action, or one that follows it, does more than display something."""
    actions, looked_at = [action], 0
    while actions and looked_at < MAX_ACTIONS:
        looked_at += 1
        current = actions.pop()
        if isinstance(current, pikepdf.Array):
            actions.extend(islice(current, MAX_ACTIONS))
        elif isinstance(current, pikepdf.Dictionary):
            if str(current.get("/S", "")) in ACTIVE_ACTIONS or "/JS" in current:
                return True
            actions.append(current.get("/Next"))
    return bool(actions)  # too many to be legitimate: treated like a script


def _annotations(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Dictionary]:
    for page in pdf.pages:
        annotations = page.obj.get("/Annots")
        if isinstance(annotations, pikepdf.Array):
            yield from (item for item in annotations if isinstance(item, pikepdf.Dictionary))


def _attachments(pdf: pikepdf.Pdf) -> Iterator[bytes]:
    """Yield embedded files that start like XML; their names vary too much to be used."""
    seen: set[tuple[int, int]] = set()
    for specification in islice(_specifications(pdf), MAX_ATTACHMENTS):
        stream = _embedded_file(specification)
        if stream is None or stream.objgen in seen or not plainly_packed(stream):
            continue
        seen.add(stream.objgen)
        data = unpack(stream, MAX_ATTACHMENT_BYTES)
        head = data[:64].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \r\n\t")
        if head.startswith(b"<") and len(data) <= MAX_ATTACHMENT_BYTES:
            yield data


def _specifications(pdf: pikepdf.Pdf) -> Iterator[object]:
    """Yield the file specifications among the document's names, then those only in its AF array."""
    names = pdf.Root.get("/Names")
    tree = names.get("/EmbeddedFiles") if isinstance(names, pikepdf.Dictionary) else None
    if isinstance(tree, pikepdf.Dictionary):
        try:
            named = sorted(pikepdf.NameTree(tree).items(), key=lambda item: item[0].lower())
        except (pikepdf.PdfError, ValueError, RuntimeError):
            named = []  # ignore a broken name tree: the pages are still readable
        yield from (specification for _, specification in named)
    associated = pdf.Root.get("/AF")
    yield from associated if isinstance(associated, pikepdf.Array) else (associated,)


def _embedded_file(specification: object) -> pikepdf.Stream | None:
    files = specification.get("/EF") if isinstance(specification, pikepdf.Dictionary) else None
    if not isinstance(files, pikepdf.Dictionary):
        return None
    streams = (files.get(key) for key in ("/UF", "/F"))
    return next((stream for stream in streams if isinstance(stream, pikepdf.Stream)), None)


def _damaged(detail: str) -> UnreadableDocument:
    detail = re.sub(r"^stream <[^>]*>(?: \([^)]*\))?: ", "", detail)  # remove the memory address of the bytes
    return UnreadableDocument(
        Unreadable.DAMAGED,
        f"The file begins like a PDF but is damaged ({detail[:200]}). Send it again; if it opens on your screen, "
        "print it into a new PDF and send that.",
    )
