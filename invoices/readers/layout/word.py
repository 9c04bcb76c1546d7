"""Words of a page with their positions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters without spaces. Coordinates are in points from the page's top left corner, y downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float | None = None
    """OCR confidence from 0 to 1; None for words of the text layer."""

    @property
    def height(self) -> float:
        """Height of the line, not of the ink."""
        return self.bottom - self.top
