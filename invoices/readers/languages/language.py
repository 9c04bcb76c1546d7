"""What the readers know of a language: one file a language fills this in, with folded patterns and no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from docrail.invoices.facts import DocumentType


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language. Each pattern is folded, and is tried on whole words only."""

    code: str
    """ISO 639-1."""
    papers: Mapping[DocumentType, tuple[str, ...]] = field(default_factory=dict)
    """Titles of papers that are no invoices, although they have numbers, dates and amounts."""
