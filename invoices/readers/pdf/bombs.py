"""Decompress a PDF's streams up to a limit, and refuse pages that cost far more to render than to send.

Files that two PDF libraries interpret differently can pass; the limits of the child process protect against those.
"""

import base64
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import pikepdf

from docrail.invoices.problems import Unreadable, UnreadableDocument

PIECE = 1 << 14
"""Bytes passed to zlib and returned by it at a time, so that the output before a damaged part is kept."""


def unpack(stream: pikepdf.Stream, limit: int) -> bytes:
    """Return the stream's content, cut off one byte after `limit`; a longer result shows that there is more.

    Stops at filters that cannot be limited (pictures, and LZW, which has not been used since 1996); the child process's
    limits cover those.
    """
    raw: bytes = stream.read_raw_bytes()
    for name in _filters(stream):
        decode = DECODERS.get(name)
        if decode is None:
            break
        raw = decode(raw, limit)
    return raw[: limit + 1]


def plainly_packed(stream: pikepdf.Stream) -> bool:
    """Return whether `unpack` reverses all of the stream's filters."""
    parameters = stream.get("/DecodeParms")
    return all(name in DECODERS for name in _filters(stream)) and (
        parameters is None or "/Predictor" not in repr(parameters)
    )


def _filters(stream: pikepdf.Stream) -> list[str]:
    filters = stream.get("/Filter")
    return [str(name) for name in ([filters] if isinstance(filters, pikepdf.Name) else list(filters or []))]


def _inflate(raw: bytes, limit: int) -> bytes:
    """Return the zlib-decompressed data, up to a damaged part if there is one, as PDF readers do."""
    inflater, unpacked = zlib.decompressobj(), bytearray()
    try:
        for start in range(0, len(raw), PIECE):
            rest = raw[start : start + PIECE]
            while rest and len(unpacked) <= limit and not inflater.eof:
                unpacked += inflater.decompress(rest, PIECE)
                rest = inflater.unconsumed_tail
    except zlib.error:
        pass
    return bytes(unpacked[: limit + 1])


def _ascii85(raw: bytes, _: int) -> bytes:
    try:
        return base64.a85decode(raw.strip().removeprefix(b"<~").partition(b"~>")[0])
    except ValueError:
        return b""


def _hexadecimal(raw: bytes, _: int) -> bytes:
    digits = re.sub(rb"[^0-9A-Fa-f]", b"", raw.partition(b">")[0])
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())


DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "/FlateDecode": _inflate,
    "/Fl": _inflate,
    "/ASCII85Decode": _ascii85,
    "/A85": _ascii85,
    "/ASCIIHexDecode": _hexadecimal,
    "/AHx": _hexadecimal,
}
"""Decoders by filter name, including the abbreviations that PDF readers accept."""

MAX_CONTENT_BYTES = 32 * 1024 * 1024
"""Decompressed drawing instructions of a page. A dense page has well under 1 MB; a bomb of 1.2 kB expands to 300 MB."""
MAX_DOCUMENT_BYTES = 512 * 1024 * 1024
"""The same for all pages together, so that a thousand pages take no longer to check than a minute allows."""
MAX_FORMS = 20_000
"""Forms drawn by a page, including nested ones. Six forms that draw each other ten times amount to a million."""
MAX_DEPTH = 30
DRAW = re.compile(rb"/([^\s/\[\]()<>{}%]{1,127})\s+Do\b")
ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
"""A character of a name, written as its code."""
MAX_PARENTS = 50


@dataclass(slots=True)
class _Budget:
    """Resources used by a page so far, and the forms already counted."""

    page_forms: pikepdf.Dictionary | None
    """Fallback of PDF readers for forms missing in a form's own resources."""
    content_bytes: int = 0
    known: dict[tuple[int, int], int | None] = field(default_factory=dict)
    """Number of forms drawn by each form including itself, by object; None while being counted."""


def refuse_bombs(pdf: pikepdf.Pdf) -> None:
    """Raise UnreadableDocument if a page expands to too many instructions or draws too many forms."""
    unpacked = 0
    for page in pdf.pages:
        budget = _Budget(_forms(page.obj))
        contents = page.obj.get("/Contents")
        streams = list(contents) if isinstance(contents, pikepdf.Array) else [contents]
        drawing = b"\n".join(_content(stream, budget) for stream in streams if isinstance(stream, pikepdf.Stream))
        _count(drawing, budget.page_forms, budget, depth=0)
        unpacked += budget.content_bytes
        if unpacked > MAX_DOCUMENT_BYTES:
            most = MAX_DOCUMENT_BYTES >> 20
            raise _bomb(f"unpacks, with those before it, to more than {most} MB of drawing instructions")


def _content(stream: pikepdf.Stream, budget: _Budget) -> bytes:
    content = unpack(stream, MAX_CONTENT_BYTES - budget.content_bytes)
    budget.content_bytes += len(content)
    if budget.content_bytes > MAX_CONTENT_BYTES:
        raise _bomb(f"unpacks to more than {MAX_CONTENT_BYTES >> 20} MB of drawing instructions")
    return content


def _count(drawing: bytes, forms: pikepdf.Dictionary | None, budget: _Budget, depth: int) -> int:
    """Return the number of forms that `drawing` draws."""
    total = 0
    for name in DRAW.findall(drawing):
        form = _form(forms, name) or _form(budget.page_forms, name)
        if form is not None:
            total += _cost(form, budget, depth)
        if total > MAX_FORMS:
            raise _bomb(f"draws more than {MAX_FORMS} forms within forms")
    return total


def _cost(form: pikepdf.Stream, budget: _Budget, depth: int) -> int:
    key = form.objgen
    if key not in budget.known:
        if depth > MAX_DEPTH:
            raise _bomb(f"draws forms within forms {MAX_DEPTH} deep")
        budget.known[key] = None
        budget.known[key] = 1 + _count(_content(form, budget), _forms(form), budget, depth + 1)
    cost = budget.known[key]
    if cost is None:
        raise _bomb("draws a form within itself")
    return cost


def _form(forms: pikepdf.Dictionary | None, name: bytes) -> pikepdf.Stream | None:
    if forms is None:
        return None
    plain = ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), name)
    form = forms.get("/" + plain.decode("utf-8", "surrogateescape"))
    return form if isinstance(form, pikepdf.Stream) and form.get("/Subtype") == "/Form" else None


def _forms(holder: pikepdf.Object) -> pikepdf.Dictionary | None:
    """Return the XObjects in the resources of a page, of its parents, or of a form."""
    for _ in range(MAX_PARENTS):
        resources = holder.get("/Resources")
        if isinstance(resources, pikepdf.Dictionary):
            forms = resources.get("/XObject")
            return forms if isinstance(forms, pikepdf.Dictionary) else None
        parent = holder.get("/Parent")
        if not isinstance(parent, pikepdf.Dictionary):
            return None
        holder = parent
    return None


def _bomb(how: str) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.UNSAFE,
        f"A page of the PDF {how}, as in files that attack readers. Print the document into a new PDF and send that.",
    )
