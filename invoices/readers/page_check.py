"""Check data from an embedded e-invoice or a payment code against the printed page."""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, assert_never

from docrail.invoices.assessment.confidence import PAGE_MISMATCH
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.kinds import AMOUNT
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, InvoiceProblem, agree
from docrail.invoices.readers.layout.places import Places

DECISIVE = frozenset(
    {"document_type", "invoice_number", "date", "due_date", "vendor_vat_id", "iban", "currency", "total"}
)
"""Fields for which it is not enough that the page prints the value somewhere: a net, an order number, a buyer's VAT id
or a date of delivery would then confirm any of them. They are compared with what the page shows at their label."""
OF_A_CODE = frozenset({"total", "iban", "invoice_number"})
"""Fields of a payment code where a contradiction could send money to the wrong account. A code replaces print, so its
other values need not be on the page."""
LABELLED = frozenset({Source.TEXT_LABEL, Source.OCR_LABEL})
"""Only values found at a label can contradict a payment code: a guess is worth less than data."""
NOT_ON_PAGE = "not_on_page"
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
    """Return `stated` with the page's evidence for or against each field, and with each field's place on the page.

    A value of an e-invoice that the page does not confirm is an error: people read the page, programs the e-invoice.
    """
    check = _check_code if stated.reader == "qr" else _check_einvoice
    fields: dict[str, FieldValue[Any]] = {}
    problems: list[InvoiceProblem] = []
    for name in FIELD_NAMES:
        field, other = getattr(stated, name), getattr(printed, name)
        if field.value is not None:
            verdict = check(name, field.value, other, places)
            fields[name] = _judged(name, verdict, field, other, places)
            problems += _problems(stated, name, verdict, other)
    whole = _check_whole(stated, places) if stated.reader != "qr" else ()
    return stated.model_copy(update={**fields, "problems": (*stated.problems, *problems, *whole)})


def without_computed_due_date(printed: InvoiceData) -> InvoiceData:
    """Return a page's reading without a due date computed from its payment term; an e-invoice states its own."""
    if Evidence.FROM_PAYMENT_TERM not in printed.due_date.evidence:
        return printed
    return printed.model_copy(update={"due_date": FieldValue[dt.date]()})


def without_page(stated: InvoiceData) -> InvoiceData:
    """Return an e-invoice whose PDF shows no words: there is nothing to compare it with."""
    message = (
        "The pages of the PDF show no words that could be compared with the embedded e-invoice. "
        "Compare it with the pages before paying."
    )
    return stated.model_copy(update={"problems": (*stated.problems, InvoiceProblem.error(NOT_ON_PAGE, message))})


class Verdict(Enum):
    """What the page says about a stated value."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "another value at the label"
    ABSENT = "not on the page"
    UNNAMED = "on the page, but not at a label"
    SILENT = "nothing for or against it"


def _check_einvoice(name: str, value: Any, other: FieldValue[Any], places: Places) -> Verdict:
    """Compare a value of an e-invoice. Names and the like have no label on many pages: they must be on the page."""
    mentioned = places.mention(value)
    same = agree(name, value, other.value) if other.value is not None else None
    if name in DECISIVE or FIELDS[name].kind is AMOUNT:
        cut = other.value is not None and same is None and len(str(other.value)) < len(str(value))
        if same or (cut and mentioned):  # the whole value is printed, of which the label's reader took a part
            return Verdict.CONFIRMED
        if same is False:
            return Verdict.CONTRADICTED
        if name not in DECISIVE and (mentioned or not value):
            return Verdict.CONFIRMED  # net + tax = total is a rule of its own
        return Verdict.UNNAMED if mentioned else Verdict.ABSENT
    if mentioned:
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if same is False and other.source in LABELLED else Verdict.ABSENT


def _check_code(name: str, value: Any, other: FieldValue[Any], places: Places) -> Verdict:
    """Compare a value of a payment code. Part of a number, or an IBAN misread by OCR, is no contradiction."""
    if places.mention(value):
        return Verdict.CONFIRMED
    if name not in OF_A_CODE:
        return Verdict.SILENT
    speaks = name == "iban" and Evidence.CHECKSUM_VALID in other.evidence
    labelled = other.source is Source.TEXT_LABEL or (other.source in LABELLED and name != "iban")
    if other.value is not None and (speaks or labelled) and agree(name, value, other.value) is False:
        return Verdict.CONTRADICTED
    return Verdict.SILENT if places.doubtful else Verdict.ABSENT


def _judged(
    name: str, verdict: Verdict, field: FieldValue[Any], other: FieldValue[Any], places: Places
) -> FieldValue[Any]:
    match verdict:
        case Verdict.CONFIRMED:
            return _placed(name, field, other, places)
        case Verdict.CONTRADICTED:
            return field.with_fact(Evidence.PAGE_CONTRADICTS)
        case Verdict.ABSENT | Verdict.UNNAMED:
            return field.with_fact(Evidence.NOT_ON_PAGE)
        case Verdict.SILENT:
            return field
        case _:
            assert_never(verdict)


def _problems(stated: InvoiceData, name: str, verdict: Verdict, other: FieldValue[Any]) -> Iterator[InvoiceProblem]:
    said = f"The {FIELDS[name].label} in the {NAMES[stated.reader]} is {getattr(stated, name).value}, "
    match verdict:
        case Verdict.CONTRADICTED:
            message = f"{said}but the page shows {other.value}. Ask the sender which one is right before paying."
            problem = InvoiceProblem.error(PAGE_MISMATCH, message, name)
            yield problem.model_copy(update={"page": other.page, "box": other.box})
        case Verdict.ABSENT if stated.reader != "qr":
            message = f"{said}but the page does not show it. Ask the sender which one is right before paying."
            yield InvoiceProblem.error(NOT_ON_PAGE, message, name)
        case Verdict.UNNAMED:
            message = f"{said}but the page shows it without a name that says so. Compare them before paying."
            yield InvoiceProblem.error(NOT_ON_PAGE, message, name)


def _check_whole(stated: InvoiceData, places: Places) -> Iterator[InvoiceProblem]:
    """Yield the disagreements about what is not a field: parties, amount to pay and reference."""
    source = NAMES[stated.reader]
    seller, buyer = stated.vendor_name, stated.buyer_name
    if seller.value and buyer.value and agree("vendor_name", seller.value, buyer.value):
        message = f"The {source} names {seller.value} as the seller and as the buyer. Compare it with the page."
        yield InvoiceProblem.error(PAGE_MISMATCH, message, "vendor_name")
    for what, value in (
        ("amount to pay", stated.payable),
        ("payment reference", stated.payment_reference),
        ("account", stated.account),
    ):
        if value is not None and not places.mention(value):
            message = f"The {what} in the {source} is {value}, but the page does not show it. Ask the sender."
            yield InvoiceProblem.error(NOT_ON_PAGE, message)


def _placed(name: str, field: FieldValue[Any], other: FieldValue[Any], places: Places) -> FieldValue[Any]:
    """Return the field with ON_PAGE and a place: where a reader found the value, else its first occurrence."""
    found = field.with_fact(Evidence.ON_PAGE)
    if other.box is not None and agree(name, field.value, other.value):
        return found.model_copy(update={"page": other.page, "box": other.box})
    place = next(places.of(field.value), None) if field.value is not None else None
    return found.model_copy(update={"page": place.page, "box": place.box}) if place else found
