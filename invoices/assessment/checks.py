"""Rules that an invoice must satisfy on its own, without history. Each violation is a named problem."""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal

from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import FIELDS, REQUIRED_FIELDS, InvoiceData, InvoiceProblem, LineItem
from docrail.invoices.values.currencies import CURRENCIES, THOUSANDTHS, tolerance, total_agrees

EXACT = (Source.HUMAN, Source.XML, Source.QR)
"""Sources that supply data instead of reading a page. They take precedence in this order, regardless of evidence."""
MAX_AHEAD = dt.timedelta(days=30)
MAX_AGE = dt.timedelta(days=2 * 365)
VAT_COUNTRY = {"EL": "GR", "XI": "GB"}
"""VAT prefixes that differ from the ISO country code."""
FLAG_WARNINGS = {
    "has_active_content": "The file contains scripts or actions that run when it is opened. Do not open the original.",
    "markup_before_header": "The file is also a web page, which a browser may open. Do not open the original.",
    "also_a_zip": "The file is also a ZIP archive, whose contents no one sees in a PDF viewer. Do not unpack it.",
    "encrypted": "The file is encrypted, with an empty password. It could be read.",
}
_OF_THE_DOCUMENT = (
    "not_an_invoice required_missing unknown_currency totals_disagree total_not_positive decimals_unsure "
    "lines_disagree tax_disagrees date_in_future date_old due_before_issue iban_checksum vat_checksum countries_differ"
)
_OF_THE_HISTORY = "duplicate near_duplicate iban_changed vat_id_changed amount_unusual"
RULES = frozenset({*_OF_THE_DOCUMENT.split(), *_OF_THE_HISTORY.split(), *FLAG_WARNINGS})
"""Codes of the problems that each assessment recomputes, here or from the history (duplicates.py, vendor_memory.py)."""


def check(invoice: InvoiceData, today: dt.date) -> list[InvoiceProblem]:
    """Return a problem for every rule that `invoice` breaks, in the order people check an invoice."""
    return [
        *_type(invoice),
        *_required(invoice),
        *_currency(invoice),
        *_totals(invoice),
        *_sign(invoice),
        *_decimals(invoice),
        *_lines(invoice),
        *_tax(invoice),
        *_dates(invoice, today),
        *_checksums(invoice),
        *_countries(invoice),
        *(InvoiceProblem.warning(flag, FLAG_WARNINGS[flag]) for flag in FLAG_WARNINGS if flag in invoice.flags),
    ]


def lines_total(lines: Sequence[LineItem]) -> Decimal | None:
    """Return the sum of the line amounts; None if there are no lines or one has no amount."""
    amounts = [line.amount for line in lines]
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None


def expected_total(invoice: InvoiceData) -> Decimal | None:
    """Return net + tax + total_adjustment; None unless net and tax are known.

    A reader derives the adjustment from the values it read. If a person corrected one of them and the three add up
    without it, it does not count.
    """
    sums = (invoice.net, invoice.tax, invoice.total)
    net, tax, total = (each.value for each in sums)
    if net is None or tax is None:
        return None
    corrected = any(each.source is Source.HUMAN for each in sums)
    if corrected and total is not None and total_agrees(net + tax, total, invoice.currency.value):
        return net + tax
    return net + tax + invoice.total_adjustment


def _type(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    if not invoice.counts_as.is_invoice:
        name = invoice.counts_as.replace("_", " ")
        yield InvoiceProblem.error(
            "not_an_invoice",
            f"This is a {name}, not an invoice. Reject it, or correct the document type.",
            "document_type",
        )


def _required(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    for name in REQUIRED_FIELDS:
        if getattr(invoice, name).value is None:
            label = FIELDS[name].label
            yield InvoiceProblem.error(
                "required_missing", f"No {label} was found. Please fill it in from the document.", name
            )


def _currency(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    currency = invoice.currency.value
    if currency is not None and currency not in CURRENCIES:
        yield InvoiceProblem.error(
            "unknown_currency", f"'{currency}' is not an ISO 4217 currency code such as EUR.", "currency"
        )


def _totals(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    expected, total = expected_total(invoice), invoice.total.value
    if expected is not None and total is not None and not total_agrees(expected, total, invoice.currency.value):
        adjustment = f" + {invoice.total_adjustment} other" if invoice.total_adjustment else ""
        yield InvoiceProblem.error(
            "totals_disagree",
            f"Net {invoice.net.value} + tax {invoice.tax.value}{adjustment} is {expected}, not the total {total}.",
            "total",
        )
        return
    for name in ("total", "net"):
        field = getattr(invoice, name)
        if Evidence.SEVERAL_SUMS in field.evidence:
            message = (
                "The amounts on the page add up in no way or in several: "
                f"the {name} may be another than {field.value}. Compare net, tax and total with the page."
            )
            yield InvoiceProblem.error("totals_disagree", message, name)
            return


def _sign(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    total = invoice.total.value
    if total is not None and total <= 0 and invoice.counts_as in (DocumentType.INVOICE, DocumentType.RECEIPT):
        yield InvoiceProblem.error(
            "total_not_positive", f"An invoice must ask for money, but its total is {total}.", "total"
        )


def _decimals(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    """Flag a total such as `1.250` in a currency with three decimals, where it may mean one and a quarter."""
    total, currency = invoice.total, invoice.currency.value
    if currency not in THOUSANDTHS or total.value is None or total.source in EXACT:
        return
    if abs(total.value) >= 1000 and total.value.as_tuple().exponent == 0:  # noqa: PLR2004  # the smallest number with a thousands group
        message = f"{currency} is written with three decimals, so {total.value} may be a thousand times too much."
        yield InvoiceProblem.error("decimals_unsure", message, "total")


def _lines(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    total = lines_total(invoice.line_items)
    if total is not None and invoice.net.value is not None and not lines_agree(invoice, total):
        adjustment = f" with {invoice.net_adjustment} charges less discounts" if invoice.net_adjustment else ""
        yield InvoiceProblem.error(
            "lines_disagree", f"The lines add up to {total}{adjustment}, not to the net {invoice.net.value}."
        )


def lines_agree(invoice: InvoiceData, total: Decimal) -> bool:
    """Return whether lines that sum to `total` match the net amount, or the total if the lines include tax."""
    slack = tolerance(invoice.currency.value, roundings=max(2, len(invoice.line_items)))
    targets = [invoice.net.value, invoice.total.value]
    return any(
        target is not None and abs(total + adjustment - target) <= slack
        for target in targets
        for adjustment in (invoice.net_adjustment, invoice.total_adjustment)
    )


def _tax(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    tax, parts = invoice.tax.value, invoice.tax_parts
    if tax is None or not parts:
        return
    slack, together = tolerance(invoice.currency.value), sum((part.tax for part in parts), Decimal(0))
    if abs(together - tax) > slack:
        yield InvoiceProblem.error("tax_disagrees", f"The tax rows add up to {together}, not to {tax}.", "tax")
    for part in parts:
        if part.base is None or part.rate is None:
            continue
        expected = part.base * part.rate / 100
        if abs(expected - part.tax) > slack:
            message = f"{part.rate:f} % of {part.base} is {expected:.2f}, not {part.tax}."
            yield InvoiceProblem.error("tax_disagrees", message, "tax")


def _dates(invoice: InvoiceData, today: dt.date) -> Iterator[InvoiceProblem]:
    issued, due = invoice.date.value, invoice.due_date.value
    if issued is None:
        return
    if issued > today + MAX_AHEAD:
        yield InvoiceProblem.error(
            "date_in_future", f"The invoice date {issued} is more than 30 days ahead of {today}.", "date"
        )
    if issued < today - MAX_AGE:
        yield InvoiceProblem.warning("date_old", f"The invoice date {issued} is more than two years ago.", "date")
    if due is not None and due < issued:
        yield InvoiceProblem.warning(
            "due_before_issue", f"The due date {due} is before the invoice date {issued}.", "due_date"
        )


def _checksums(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    for name, code in (("iban", "iban_checksum"), ("vendor_vat_id", "vat_checksum")):
        field = getattr(invoice, name)
        if Evidence.CHECKSUM_INVALID in field.evidence:
            what = f"The check digits of {field.value} are wrong"
            yield InvoiceProblem.warning(code, f"{what}: a typing or reading mistake, or an invented number.", name)


def _countries(invoice: InvoiceData) -> Iterator[InvoiceProblem]:
    vat, iban = invoice.vendor_vat_id.value, invoice.iban.value
    named: dict[str, str] = {"vendor address": invoice.vendor_country} if invoice.vendor_country else {}
    if vat and vat[:2].isalpha():
        named["VAT id"] = VAT_COUNTRY.get(vat[:2], vat[:2])
    if iban:
        named["IBAN"] = iban[:2]
    if len(set(named.values())) > 1:
        found = ", ".join(f"{name} {country}" for name, country in named.items())
        yield InvoiceProblem.warning("countries_differ", f"The vendor's countries differ: {found}.")
