"""Detect a file's type from its first bytes. File names are ignored, because anyone can rename a file."""

import re
from enum import StrEnum

from docrail.invoices.problems import Unreadable, UnreadableDocument

PDF_WINDOW = 1024
"""PDF readers accept the header within the first kilobyte; scanners and mail gateways may prepend data."""
ALLOWED = "Send a PDF, an e-invoice XML (UBL or CII) or an image of the invoice."
OTHER_TYPES = (
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a program"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"Rar!", "a RAR archive"),
    (b"\x1f\x8b", "a compressed file"),
    (b"{\\rtf", "an RTF text"),
)
IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF8", b"BM")
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
HTML = re.compile(rb"<(!doctype\s+html|html|head|body|script)", re.IGNORECASE)


class FileKind(StrEnum):
    """The file types that have a reader."""

    PDF = "pdf"
    XML = "xml"
    IMAGE = "image"


def sniff(data: bytes) -> FileKind:
    """Return the type of `data`. Raises: UnreadableDocument if it is empty or has no reader."""
    if not data:
        raise UnreadableDocument(Unreadable.EMPTY, "The file is empty (0 bytes). Send it again.")
    start = data[:PDF_WINDOW]
    if data.startswith(IMAGES) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return FileKind.IMAGE
    other = next((name for magic, name in OTHER_TYPES if data.startswith(magic)), None)
    if other is None and b"%PDF-" in start:
        return FileKind.PDF
    if other is None and _looks_like_xml(start):
        return FileKind.XML
    found = other or ("a web page (HTML)" if HTML.search(start) else "of an unknown type")
    raise UnreadableDocument(Unreadable.UNKNOWN_TYPE, f"The file is {found}, whatever its name says. {ALLOWED}")


def _looks_like_xml(start: bytes) -> bool:
    if HTML.search(start):
        return False
    without_mark = next((start.removeprefix(mark) for mark in BYTE_ORDER_MARKS if start.startswith(mark)), start)
    return without_mark.replace(b"\x00", b"").lstrip().startswith(b"<")
