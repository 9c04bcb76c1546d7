"""How much of a long document is opened, and how much of it is read."""

from collections.abc import Sequence

MAX_PAGES = 1000
"""Most pages of a document. People can look at all of them; a file with more is refused."""
FIRST_PAGES, LAST_PAGES = 40, 10
"""The pages that are read of a longer document: invoices begin with their header and end with their totals."""


def pages_to_read(count: int) -> Sequence[int]:
    """Return the numbers, from 1, of the pages that are read of a document with `count` pages."""
    if count <= FIRST_PAGES + LAST_PAGES:
        return range(1, count + 1)
    return [*range(1, FIRST_PAGES + 1), *range(count - LAST_PAGES + 1, count + 1)]
