"""Open a PDF's pages, the first of them once: parsing one takes milliseconds, and several readers look at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import pypdfium2

from docrail.invoices.problems import Unreadable, UnreadableDocument

KEPT_PAGES = 4
"""Pages that stay open: most invoices have no more, and the pages of a hostile file may be large."""


class PdfPages:
    """The pages of a PDF file; a context manager, and closed with its last reference."""

    def __init__(self, data: bytes) -> None:
        """Open the file. Raises: UnreadableDocument."""
        try:
            self._document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise UnreadableDocument(
                Unreadable.DAMAGED,
                f"The PDF is damaged ({error}). Send it again; if it opens on your screen, print it into a new PDF.",
            ) from error
        self._kept: dict[int, pypdfium2.PdfPage] = {}

    def __len__(self) -> int:
        """Return how many pages the file has."""
        return len(self._document)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._document.close()  # with its pages

    @contextmanager
    def page(self, number: int) -> Iterator[pypdfium2.PdfPage]:
        """Open page `number`, from 1. Raises: PdfiumError if it is broken."""
        page = self._kept.get(number) or self._document[number - 1]
        if number not in self._kept and len(self._kept) < KEPT_PAGES:
            self._kept[number] = page
        try:
            yield page
        finally:
            if number not in self._kept:
                page.close()
