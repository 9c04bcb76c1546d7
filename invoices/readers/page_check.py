"""Checks an embedded e-invoice against the page people see: some real files contradict themselves."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from invoices.confidence import PAGE_MISMATCH
from invoices.model import FIELD_NAMES, Evidence, FieldValue, InvoiceData, Problem, Severity, Source
from invoices.readers.dates import find_dates
from invoices.readers.folding import squeeze
from invoices.readers.geometry import Page
from invoices.readers.numbers import find_amounts

MUST_AGREE = {"total": "total", "iban": "IBAN", "invoice_number": "invoice number"}
"""Fields where a contradiction moves money to the wrong place."""


def check_against_page(embedded: InvoiceData, printed: InvoiceData, pages: Sequence[Page]) -> InvoiceData:
    """Return `embedded` with what the page says for or against each field."""
    text = " ".join(word.text for page in pages for word in page.words)
    squeezed = squeeze(text)
    amounts = {abs(amount.value) for amount in find_amounts(text)}
    dates = {date.value for order in (True, False) for date in find_dates(text, month_first=order)}
    fields: dict[str, FieldValue[Any]] = {}
    problems: list[Problem] = []
    for name in FIELD_NAMES:
        field, other = getattr(embedded, name), getattr(printed, name)
        if field.value is None:
            continue
        if _is_printed(field.value, squeezed, amounts, dates):
            fields[name] = _with(field, Evidence.ON_PAGE, other)
        elif name in MUST_AGREE and _contradicts(field.value, other):
            fields[name] = _with(field, Evidence.PAGE_CONTRADICTS, other)
            problems.append(_mismatch(name, field.value, other.value))
        elif name in MUST_AGREE:
            fields[name] = _with(field, Evidence.NOT_ON_PAGE, FieldValue())
    return embedded.model_copy(update={**fields, "problems": (*embedded.problems, *problems)})


def _is_printed(value: object, squeezed: str, amounts: Iterable[Decimal], dates: Iterable[object]) -> bool:
    if isinstance(value, Decimal):
        return abs(value) in amounts
    if isinstance(value, str):
        return squeeze(value) in squeezed
    return value in dates


def _contradicts(value: object, other: FieldValue[Any]) -> bool:
    """Only what a label names can contradict: a guess is worth less than the XML, and a part is the same, shorter."""
    if other.value is None or other.source is not Source.TEXT_LABEL:
        return False
    return not isinstance(value, str) or squeeze(str(other.value)) not in squeeze(value)


def _with(field: FieldValue[Any], fact: Evidence, other: FieldValue[Any]) -> FieldValue[Any]:
    """Add the fact, and where on the page the field is, if both readings agree on it."""
    place = {"page": other.page, "box": other.box} if other.value == field.value else {}
    return field.model_copy(update={"evidence": (*field.evidence, fact), **place})


def _mismatch(name: str, embedded: object, printed: object) -> Problem:
    return Problem(
        code=PAGE_MISMATCH,
        severity=Severity.ERROR,
        field=name,
        message=f"The {MUST_AGREE[name]} in the embedded e-invoice is {embedded}, but the page shows {printed}. "
        "Ask the sender which one is right before paying.",
    )
