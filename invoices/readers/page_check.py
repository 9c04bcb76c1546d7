"""Check data from an embedded e-invoice or a payment code against the printed page."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from docrail.invoices.assessment.confidence import PAGE_MISMATCH
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, InvoiceProblem, agree
from docrail.invoices.readers.layout.places import Places

MUST_AGREE = ("total", "iban", "invoice_number")
"""Fields where a contradiction could send money to the wrong account."""
LABELLED = frozenset({Source.TEXT_LABEL, Source.OCR_LABEL})
"""Only values found at a label can contradict: a guess is worth less than data."""
NAMES = {"cii": "embedded e-invoice", "ubl": "embedded e-invoice", "qr": "payment code"}


def check_code_against_einvoice(code: InvoiceData, einvoice: InvoiceData) -> InvoiceData:
    """Return `code` with a problem if it names another account than the e-invoice.

    Its amount may differ: it is the amount left to pay.
    """
    iban, stated = code.iban.value, einvoice.iban
    accounts = {stated.value, *(candidate.value for candidate in stated.candidates)}
    if iban is None or stated.value is None or iban in accounts:
        return code
    message = (
        f"The IBAN in the payment code is {iban}, but the embedded e-invoice states {stated.value}. "
        "Ask the sender which one is right before paying."
    )
    problem = InvoiceProblem.error(PAGE_MISMATCH, message, "iban")
    return code.model_copy(update={"problems": (*code.problems, problem)})


def without_part_payment(code: InvoiceData, totals: Sequence[Decimal], places: Places) -> InvoiceData:
    """Return `code` without its amount if that is printed but not the total: a remainder or an instalment."""
    amount = code.total.value
    if amount is None or not totals or amount in totals or not places.mention(amount):
        return code
    return code.model_copy(update={"total": FieldValue[Decimal]()})


def check_against_page(stated: InvoiceData, printed: InvoiceData, places: Places) -> InvoiceData:
    """Return `stated` with the page's evidence for or against each field, and with each field's place on the page."""
    fields: dict[str, FieldValue[Any]] = {}
    problems: list[InvoiceProblem] = []
    for name in FIELD_NAMES:
        field, other = getattr(stated, name), getattr(printed, name)
        if field.value is None:
            continue
        if places.mention(field.value):
            fields[name] = _placed(name, field, other, places)
        elif name in MUST_AGREE and _contradicts(name, field.value, other):
            fields[name] = field.with_fact(Evidence.PAGE_CONTRADICTS)
            message = (
                f"The {FIELDS[name].label} in the {NAMES[stated.reader]} is {field.value}, "
                f"but the page shows {other.value}. Ask the sender which one is right before paying."
            )
            problems.append(InvoiceProblem.error(PAGE_MISMATCH, message, name))
        elif name in MUST_AGREE and not places.doubtful:
            fields[name] = field.with_fact(Evidence.NOT_ON_PAGE)
    return stated.model_copy(update={**fields, "problems": (*stated.problems, *problems)})


def _contradicts(name: str, value: object, other: FieldValue[Any]) -> bool:
    """Return whether the page contradicts the value. Part of a number, or an IBAN misread by OCR, does not."""
    speaks = Evidence.CHECKSUM_VALID in other.evidence if name == "iban" else False
    labelled = other.source is Source.TEXT_LABEL or (other.source in LABELLED and name != "iban")
    return other.value is not None and (speaks or labelled) and agree(name, value, other.value) is False


def _placed(name: str, field: FieldValue[Any], other: FieldValue[Any], places: Places) -> FieldValue[Any]:
    """Return the field with ON_PAGE and a place: where a reader found the value, else its first occurrence."""
    found = field.with_fact(Evidence.ON_PAGE)
    if other.box is not None and agree(name, field.value, other.value):
        return found.model_copy(update={"page": other.page, "box": other.box})
    place = next(places.of(field.value), None) if field.value is not None else None
    return found.model_copy(update={"page": place.page, "box": place.box}) if place else found
