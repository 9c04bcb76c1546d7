"""Looks up on the pages what Gemini says it read there: each value gets its place, or the fact that it is not there."""

from collections.abc import Mapping, Sequence
from typing import Any

from invoices.model import FIELD_NAMES, Evidence, FieldValue, InvoiceData
from invoices.readers.folding import squeeze
from invoices.readers.geometry import Page
from invoices.readers.places import Place, Places

NOT_LOOKED_UP = frozenset({"currency"})
"""Printed as a sign as often as by its code."""


def check_on_pages(invoice: InvoiceData, quotes: Mapping[str, str], pages: Sequence[Page]) -> InvoiceData:
    """Return Gemini's reading with what the pages' words say of each value: ON_PAGE with its box, or NOT_ON_PAGE.

    `quotes` is what the model says it copied, by field. Words that an OCR read can speak for a value, not against it:
    it may be the one that misread. Without words nothing is said.
    """
    if not any(page.words for page in pages):
        return invoice
    places = Places(pages)
    fields = {}
    for name in FIELD_NAMES:
        field: FieldValue[Any] = getattr(invoice, name)
        if field.value is None or name in NOT_LOOKED_UP:
            continue
        place = _best(list(places.of(field.value)), quotes.get(name, ""), field.page)
        if place:
            fields[name] = _with(field, Evidence.ON_PAGE).model_copy(update={"page": place.page, "box": place.box})
        elif places.mention(field.value):
            fields[name] = _with(field, Evidence.ON_PAGE)
        elif not places.doubtful:
            fields[name] = _with(field, Evidence.NOT_ON_PAGE)
    return invoice.model_copy(update=fields)


def _best(places: Sequence[Place], quote: str, page: int | None) -> Place | None:
    """Return the place that fits best what the model quoted and where; the first of equals."""
    wanted = squeeze(quote)

    def fitness(place: Place) -> tuple[bool, bool]:
        row = squeeze(place.row_text)
        return bool(wanted) and (wanted in row or row in wanted), place.page == page

    return max(places, key=fitness, default=None)


def _with(field: FieldValue[Any], fact: Evidence) -> FieldValue[Any]:
    return field.model_copy(update={"evidence": (*field.evidence, fact)})
