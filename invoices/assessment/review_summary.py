"""What a reviewer sees of a judged document: the reasons for review, its queue row, and the approvals needed."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal

from docrail.invoices.assessment.assess import account_is_new, vendor_is_known
from docrail.invoices.assessment.priority import UNSURE
from docrail.invoices.facts import Source
from docrail.invoices.model import FIELD_NAMES, FIELDS, REQUIRED_FIELDS, InvoiceData, InvoiceProblem

IBAN_CHANGED = "iban_changed"
LONGEST_SHOWN = 80
"""Characters of each part of a document's title."""


def review_reasons(invoice: InvoiceData) -> list[InvoiceProblem]:
    """Return the reasons for a review: broken rules, then required fields with low confidence."""
    return [*invoice.problems, *_unsure(invoice)]


def shown_digest(invoice: InvoiceData) -> str:
    """Return the sha256 (hex) of everything a decision depends on: values, locks, lines and broken rules.

    Confidences and message texts are excluded, so that a new calibration or another day does not outdate a decision.
    """
    fields = {name: getattr(invoice, name) for name in FIELD_NAMES}
    shown = [
        {name: [_plain(field.value), field.lock is not None] for name, field in fields.items()},
        [line.model_dump(mode="json", exclude={"page", "box"}) for line in invoice.line_items],
        [part.model_dump(mode="json") for part in invoice.tax_parts],
        sorted([problem.code, problem.severity, problem.field or ""] for problem in invoice.problems),
    ]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def summary(invoice: InvoiceData) -> dict[str, str | float | None]:
    """Return the document's row in the queue; the total is text, to stay exact."""
    return {
        "vendor": invoice.vendor_name.value,
        "number": invoice.invoice_number.value,
        "date": _plain(invoice.date.value),
        "total": _plain(invoice.total.value),
        "currency": invoice.currency.value,
        "confidence": invoice.confidence,
    }


def document_title(row: Mapping[str, object], document_id: str | None) -> str:
    """Return a one-line title from a `summary`: `Muster AG, RE-17, 119.00 EUR`; the id if the summary is empty.

    Documents are untrusted input: characters that are not printable, or that change the text direction, become spaces.
    """
    amount = _line(row.get("total"), row.get("currency")) if row.get("total") else ""
    parts = _line(row.get("vendor")), _line(row.get("number")), amount
    return ", ".join(filter(None, parts)) or document_id or ""


def _line(*values: object) -> str:
    text = " ".join(str(value) for value in values if value is not None)
    words = "".join(character if character.isprintable() else " " for character in text).split()
    line = " ".join(words)
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…"


def why_two_approvals(invoice: InvoiceData, above: Decimal | None) -> list[InvoiceProblem]:
    """Return why two people must approve; empty if one is enough. `above` is the largest total that one may approve."""
    reasons, total = list(_account(invoice)), invoice.total.value
    if above is not None and total is not None and abs(total) > above:
        message = f"the total {total} is above {above}, the largest that one person may approve"
        reasons.insert(0, InvoiceProblem.warning("total_above_limit", message, "total"))
    return reasons


def _account(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    """Yield reasons to have the account checked by a second person: a person entering one could enter their own."""
    if any(problem.code == IBAN_CHANGED for problem in invoice.problems):
        message = "the IBAN differs from the one that this vendor was paid to so far"
        yield InvoiceProblem.warning(IBAN_CHANGED, message, "iban")
    elif vendor_is_known(invoice) and account_is_new(invoice):
        yield InvoiceProblem.warning("account_new", "this account of the vendor has not been approved yet", "iban")
    iban = invoice.iban
    read = {each.value for each in iban.candidates if each.source not in (Source.HUMAN, Source.VENDOR)}
    if iban.lock is not None and iban.value is not None and iban.value not in read:
        message = f"no reader found the IBAN {iban.value}: {iban.lock.by} entered it"
        yield InvoiceProblem.warning("iban_entered", message, "iban")


def _unsure(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    for name in REQUIRED_FIELDS:
        field = getattr(invoice, name)
        if field.value is not None and field.confidence < UNSURE:
            message = f"The {FIELDS[name].label} was read with confidence {field.confidence:.2f}."
            yield InvoiceProblem.warning("unsure_field", message, name)


def _plain(value: object) -> str | None:
    return None if value is None else str(value)
