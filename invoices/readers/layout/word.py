"""What the readers see of a page: words, each with its place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters without space. Points from the page's top left corner, y growing downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float | None = None
    """How sure an OCR is of the characters, 0 to 1; None: they came as text."""

    @property
    def height(self) -> float:
        """Of the line, not of the ink."""
        return self.bottom - self.top
