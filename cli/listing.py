"""What a table shows: the kinds of its columns, and its rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """How the cells of a column are printed."""

    ID = auto()
    """On one line, at its full width: an id, a time, a word."""
    NUMBER = auto()
    """Aligned to the right."""
    STATUS = auto()
    """In the colour of the status."""
    TEXT = auto()
    """Folded between words if it is too long."""


ID, NUMBER, STATUS, TEXT = Kind


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: each heading with the kind of its column, and the rows."""

    headings: Mapping[str, Kind]
    rows: Iterable[Sequence[str]]
