"""Reads OASIS UBL 2.1 Invoices and CreditNotes: Peppol BIS and XRechnung UBL."""

from invoices.model import DocumentType, InvoiceData, LineItem, TaxPart
from invoices.readers.cii import CREDIT_NOTE_CODES
from invoices.readers.xml_tree import Element, find, find_all, local_name, text
from invoices.readers.xml_values import as_amount, as_date, as_field, as_iban_field, as_vat_field

ROOTS = frozenset({"Invoice", "CreditNote"})
PARTY_NAME = ("PartyLegalEntity/RegistrationName", "PartyName/Name")
"""The registered name is the one that is paid; a trading name is second best."""


def read_ubl(root: Element) -> InvoiceData:
    """Return what a UBL invoice or credit note says, exactly."""
    seller, buyer = find(root, "AccountingSupplierParty/Party"), find(root, "AccountingCustomerParty/Party")
    sums, currency = find(root, "LegalMonetaryTotal"), text(root, "DocumentCurrencyCode")
    tax_total = _tax_total(root, currency)
    due = text(root, "DueDate") or text(root, "PaymentMeans/PaymentDueDate")
    is_credit_note = (
        local_name(root) == "CreditNote" or text(root, "InvoiceTypeCode|CreditNoteTypeCode") in CREDIT_NOTE_CODES
    )
    return InvoiceData(
        document_type=DocumentType.CREDIT_NOTE if is_credit_note else DocumentType.INVOICE,
        invoice_number=as_field(text(root, "ID")),
        date=as_field(as_date(text(root, "IssueDate"))),
        due_date=as_field(as_date(due)),
        vendor_name=as_field(_name(seller)),
        vendor_vat_id=as_vat_field(_vat_id(seller)),
        vendor_country=text(seller, "PostalAddress/Country/IdentificationCode"),
        buyer_name=as_field(_name(buyer)),
        iban=as_iban_field(text(root, "PaymentMeans/PayeeFinancialAccount/ID")),
        currency=as_field(currency),
        net=as_field(as_amount(text(sums, "TaxExclusiveAmount"))),
        tax=as_field(as_amount(text(tax_total, "TaxAmount"))),
        total=as_field(as_amount(text(sums, "TaxInclusiveAmount"))),
        net_adjustment=(as_amount(text(sums, "ChargeTotalAmount")) or 0)
        - (as_amount(text(sums, "AllowanceTotalAmount")) or 0),
        line_items=tuple(_line(line) for line in find_all(root, "InvoiceLine|CreditNoteLine")),
        tax_parts=tuple(part for row in find_all(tax_total, "TaxSubtotal") if (part := _tax_part(row))),
        reader="ubl",
    )


def _name(party: Element | None) -> str | None:
    return next((name for path in PARTY_NAME if (name := text(party, path))), None)


def _vat_id(party: Element | None) -> str | None:
    schemes = find_all(party, "PartyTaxScheme")
    return next((text(scheme, "CompanyID") for scheme in schemes if text(scheme, "TaxScheme/ID") == "VAT"), None)


def _tax_total(root: Element, currency: str | None) -> Element | None:
    """The tax may be stated in a second, accounting currency: the document's own counts."""
    totals = list(find_all(root, "TaxTotal"))
    own = [total for total in totals if _currency(total) in (currency, None)]
    return next(iter(own or totals), None)


def _currency(total: Element) -> str | None:
    amount = find(total, "TaxAmount")
    return None if amount is None else amount.get("currencyID")


def _line(line: Element) -> LineItem:
    return LineItem(
        description=text(line, "Item/Name") or "",
        quantity=as_amount(text(line, "InvoicedQuantity|CreditedQuantity")),
        unit_price=as_amount(text(line, "Price/PriceAmount")),
        amount=as_amount(text(line, "LineExtensionAmount")),
        tax_rate=as_amount(text(line, "Item/ClassifiedTaxCategory/Percent")),
    )


def _tax_part(row: Element) -> TaxPart | None:
    tax = as_amount(text(row, "TaxAmount"))
    if tax is None:
        return None
    return TaxPart(
        rate=as_amount(text(row, "TaxCategory/Percent")), base=as_amount(text(row, "TaxableAmount")), tax=tax
    )
