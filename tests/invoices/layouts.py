"""Pages for the tests of the text reader, as words with boxes: quicker than drawing PDFs."""

from collections.abc import Sequence

from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Layout, Page, Word, lay_out
from tests.invoices.documents import Line

WIDTH, HEIGHT, SIZE = 595.0, 842.0, 10.0
LETTER = 0.5
"""Width of a letter as a share of its height; spaces are half as wide."""


def page(lines: Sequence[Line], number: int = 1) -> Page:
    """Return a page with the lines printed at 10 points, each word with its box."""
    words: list[Word] = []
    for left, top, text in lines:
        x = left
        for word in text.split(" "):
            width = LETTER * SIZE * len(word)
            if word:
                words.append(Word(word, x, top, x + width, top + SIZE))
            x += width + LETTER * SIZE / 2
    return Page(number, WIDTH, HEIGHT, tuple(words))


def to_the_right(edge: float, top: float, *texts: str) -> list[Line]:
    """Return lines that end at `edge`."""
    ends = (max(word.right for word in page([(0, 0, text)]).words) for text in texts)
    return [(edge - end, top + 14 * row, text) for row, (end, text) in enumerate(zip(ends, texts, strict=True))]


def layout(*pages: Sequence[Line]) -> Layout:
    """Return the pages' words as rows of cells."""
    return lay_out([page(lines, number) for number, lines in enumerate(pages, start=1)])


def finder(*pages: Sequence[Line]) -> Finder:
    """Return what looks around on the pages."""
    return Finder(layout(*pages))


def table(*rows: str, top: float = 300.0, edges: Sequence[float] = (50, 300, 380, 480)) -> list[Line]:
    """Return rows of cells, written with `|` between them, each cell at its edge."""
    return [
        (x, top + 14 * index, cell.strip())
        for index, row in enumerate(rows)
        for x, cell in zip(edges, row.split("|"), strict=False)
        if cell.strip()
    ]
