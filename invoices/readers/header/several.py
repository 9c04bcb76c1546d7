"""Find where another invoice begins in a file, so that the pages of two are never read as one.

To see that there are several is one thing, to cut the file another: an appendix or a page that the OCR misread must not
be taken from its invoice. So parts are named only if every page is tied to its invoice, and all words are of the text
layer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docrail.invoices.features import leaders
from docrail.invoices.model import InvoiceProblem, PageRange
from docrail.invoices.readers.header.number import (
    NUMBER,
    NumberAt,
    NumberCandidate,
    invoice_numbers,
    is_in_a_sentence,
    names_another,
)
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.values.folding import fold, squeeze

HEAD = 0.5
"""Share of a page in which an invoice prints its number."""
LATER_PAGE = re.compile(
    r"\b(?:page|seite|blatt|pagina?|pag\.?|strona|sida|side|sivu|strana|sayfa)\W{0,3}(?!1\b|0*1\W)\d+\W{0,3}"
    r"(?:of|von|sur|van|de|di|da|z|av|af|/)\W{0,2}\d+"
)
"""A page that counts itself as a later one of its document."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first page of an invoice, and its number."""

    page: int
    number: str


def beginnings(finder: Finder) -> list[Beginning]:
    """Return the first page of each invoice; fewer than two unless the breaks are certain.

    A break is certain if the head of a page labels a number of its own, the page does not repeat the number before,
    and it does not count itself as a later page.
    """
    if len(finder.layout.pages) < 2:  # noqa: PLR2004
        return []
    own: list[Beginning] = []
    for page, number in _labelled_heads(finder):
        if own and _is_tied(_text_of(finder, page), own[-1]):
            continue
        own.append(Beginning(page, number))
    return own


def parts_of(finder: Finder, found: list[Beginning]) -> tuple[PageRange, ...]:
    """Return the pages of each invoice; none unless every page begins an invoice or is tied to the one before.

    A page is tied to an invoice if it repeats its number, counts itself as a later page, or is blank.
    """
    pages = finder.layout.pages
    if len(found) < 2 or found[0].page != 1 or any(w.score is not None for page in pages for w in page.words):  # noqa: PLR2004
        return ()
    lasts = [each.page - 1 for each in found[1:]] + [len(pages)]
    for beginning, last in zip(found, lasts, strict=True):
        if not all(_is_tied(_text_of(finder, page), beginning) for page in range(beginning.page + 1, last + 1)):
            return ()
    return tuple(PageRange(first=each.page, last=last) for each, last in zip(found, lasts, strict=True))


def _is_tied(text: str, beginning: Beginning) -> bool:
    return not text or squeeze(beginning.number) in squeeze(text) or LATER_PAGE.search(fold(text)) is not None


def _text_of(finder: Finder, page: int) -> str:
    return "\n".join(row.text for row in finder.layout.rows if row.page == page)


def several_invoices(found: list[Beginning]) -> InvoiceProblem:
    """Return the problem that names each invoice with its first page."""
    named = ", ".join(f"{each.number} from page {each.page}" for each in found)
    return InvoiceProblem.error(
        "several_invoices",
        f"The file contains {len(found)} invoices: {named}. Only the first was read. Upload each as a file of its own.",
        "invoice_number",
    )


def _labelled_heads(finder: Finder) -> Iterator[tuple[int, str]]:
    """Yield each page that labels a number in its head, with the number."""
    heights = {page.number: page.height for page in finder.layout.pages}
    by_page: dict[int, list[NumberCandidate]] = {}
    for candidate in invoice_numbers(finder):
        cell = candidate.at.label_cell
        if _is_its_own(candidate) and cell.top < HEAD * heights[cell.page]:
            by_page.setdefault(cell.page, []).append(candidate)
    for page in sorted(by_page):
        best = leaders(NUMBER, by_page[page])
        if len({squeeze(candidate.value) for candidate in best}) == 1:
            yield page, best[0].value


def _is_its_own(candidate: NumberCandidate) -> bool:
    sure = candidate.basis in (NumberAt.LABEL, NumberAt.TITLE) and not (candidate.charged or candidate.corrected)
    return sure and not names_another(candidate.at) and not is_in_a_sentence(candidate.at)
