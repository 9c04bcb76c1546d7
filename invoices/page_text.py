"""A page of a document as text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageText:
    """A page: its number (from 1), its size in points, and its text row by row.

    The text of a scan or a picture comes from OCR, if the extra `ocr` is installed.
    """

    number: int
    width: float
    height: float
    text: str
