"""A page of a document as text, and as words with their places."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from docrail.field_docs import describe_fields
from docrail.invoices.model import Box


@dataclass(frozen=True, slots=True)
class PageText:
    """A page: its number (from 1), its size in points, and its text row by row.

    The text of a scan or a picture comes from OCR, if the extra `ocr` is installed.
    """

    number: int
    width: float
    height: float
    text: str


@dataclass(slots=True)  # there are hundreds, and frozen ones take three times as long to make
class PlacedWord:
    """A word of a page, in the coordinates of the page's picture."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=describe_fields)

    text: str
    """The word."""
    box: Box
    """Left, top, right and bottom edge, as shares of the picture's width and height."""
