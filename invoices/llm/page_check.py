"""Look up the values that Gemini read on the pages, and record their place or that they were not found."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from docrail.invoices.facts import Evidence
from docrail.invoices.kinds import CURRENCY, TYPE
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.layout.page import Page, lay_out
from docrail.invoices.readers.layout.places import Place, Places, Value
from docrail.invoices.values.folding import squeeze

NOT_LOOKED_UP = (CURRENCY, TYPE)
"""Not looked up: a currency is printed as a sign as often as by its code, a type as a title in any language."""
MOST_PLACES = 50
"""Places examined per value: an invoice has a few, a hostile page may have tens of thousands."""
LONGEST_QUOTE = 200
"""In characters; a page's row has fewer."""
NOT_EXAMINED = "gemini_not_checked"


def claims_of(invoice: InvoiceData, quotes: Mapping[str, str]) -> dict[str, Any]:
    """Return the part of a reading that `check_claims` needs as JSON, a few kilobytes."""
    fields = {name: getattr(invoice, name).model_dump(mode="json") for name in FIELD_NAMES}
    return {"fields": fields, "quotes": {name: quote[:LONGEST_QUOTE] for name, quote in quotes.items()}}


def check_claims(claims: Mapping[str, Any], pages: Sequence[Page]) -> InvoiceData:
    """Return the fields of `claims` as checked by `check_on_pages`.

    Run it in a limited child: a row of ten thousand words takes seconds.
    """
    return check_on_pages(InvoiceData.model_validate(claims["fields"]), claims["quotes"], pages)


def with_findings(invoice: InvoiceData, checked: InvoiceData) -> InvoiceData:
    """Return Gemini's reading with the evidence and places from `checked`; its values are kept."""
    fields = {}
    for name in FIELD_NAMES:
        found: FieldValue[Any] = getattr(checked, name)
        update = {"evidence": found.evidence, "page": found.page, "box": found.box}
        fields[name] = getattr(invoice, name).model_copy(update=update)
    return invoice.model_copy(update=fields)


def not_examined(invoice: InvoiceData, why: UnreadableDocument | OSError) -> InvoiceData:
    """Return Gemini's reading with an error problem: it could not be compared with the pages, so a person must."""
    message = f"The values from Gemini could not be checked against the pages: {why} Compare them with the document."
    problem = InvoiceProblem.error(NOT_EXAMINED, message)
    return invoice.model_copy(update={"problems": (*invoice.problems, problem)})


def check_on_pages(invoice: InvoiceData, quotes: Mapping[str, str], pages: Sequence[Page]) -> InvoiceData:
    """Return Gemini's reading with evidence from the pages' words: ON_PAGE with its box, or NOT_ON_PAGE.

    `quotes` holds the text the model says it copied, by field. OCR words can confirm a value but not refute it, because
    the OCR may have misread. Pages without words add no evidence.
    """
    if not any(page.words for page in pages):
        return invoice
    places = Places(lay_out(pages))
    fields = {}
    for name, spec in FIELDS.items():
        field: FieldValue[Any] = getattr(invoice, name)
        if field.value is None or spec.kind in NOT_LOOKED_UP:
            continue
        fields[name] = check_field(field, field.value, places, quotes.get(name, ""))
    return invoice.model_copy(update=fields)


def check_field(field: FieldValue[Any], value: Value, places: Places, quote: str) -> FieldValue[Any]:
    """Return a model's field with what the pages say about its `value`; `quote` is the text it says it copied."""
    place = _best(places.of(value), quote, field.page)
    if place:
        return field.with_fact(Evidence.ON_PAGE).model_copy(update={"page": place.page, "box": place.box})
    if places.mention(value):
        return field.with_fact(Evidence.ON_PAGE)
    return field if places.doubtful else field.with_fact(Evidence.NOT_ON_PAGE)


def _best(places: Iterable[Place], quote: str, page: int | None) -> Place | None:
    """Return the place that best matches the model's quote and page; the first if several match equally."""
    wanted = squeeze(quote)

    def fitness(place: Place) -> tuple[bool, bool]:
        row = squeeze(place.row_text)
        return bool(wanted) and (wanted in row or row in wanted), place.page == page

    return max(islice(places, MOST_PLACES), key=fitness, default=None)
