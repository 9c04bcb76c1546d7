"""Read OASIS UBL 2.1 Invoices and CreditNotes: Peppol BIS and XRechnung UBL."""

from decimal import Decimal

from docrail.invoices.model import InvoiceData, LineItem
from docrail.invoices.readers.einvoice.xml_tree import Element, find, find_all, local_name, text, words_of
from docrail.invoices.readers.einvoice.xml_values import (
    Payable,
    account_of,
    amount_at,
    as_amount,
    as_date,
    as_document_type,
    as_field,
    as_iban_field,
    as_unit_price,
    as_vat_field,
    own_amount,
    payable_of,
    tax_part,
)

ROOTS = frozenset({"Invoice", "CreditNote"})
PARTY_NAME = ("PartyLegalEntity/RegistrationName", "PartyName/Name")
"""The payment goes to the registered name; a trading name is the fallback."""
ACCOUNTS = "PaymentMeans/PayeeFinancialAccount/ID"
PAYER = "PaymentMeans/PaymentMandate/PayerFinancialAccount/ID"
ZERO = Decimal(0)


def read_ubl(root: Element) -> InvoiceData:
    """Convert a UBL invoice or credit note."""
    seller, buyer = find(root, "AccountingSupplierParty/Party"), find(root, "AccountingCustomerParty/Party")
    sums = find(root, "LegalMonetaryTotal")
    total = _total(sums)
    left = _left(sums, total)
    currency = _currency(root, sums)
    tax_total = own_amount(find_all(root, "TaxTotal/TaxAmount"), currency)
    tax_rows = find_all(None if tax_total is None else tax_total.getparent(), "TaxSubtotal")
    taxes = (tax_part(row, rate="TaxCategory/Percent", base="TaxableAmount", tax="TaxAmount") for row in tax_rows)
    tax_parts = tuple(part for part in taxes if part)
    code, is_credit_note = text(root, "InvoiceTypeCode|CreditNoteTypeCode"), local_name(root) == "CreditNote"
    adjustment = (amount_at(sums, "ChargeTotalAmount") or ZERO) - (amount_at(sums, "AllowanceTotalAmount") or ZERO)
    net, lines = amount_at(sums, "TaxExclusiveAmount"), amount_at(sums, "LineExtensionAmount")
    return InvoiceData(
        document_type=as_field(as_document_type(code, total, is_credit_note=is_credit_note)),
        invoice_number=as_field(text(root, "ID")),
        order_reference=as_field(_order(root)),
        date=as_field(as_date(text(root, "IssueDate"))),
        due_date=as_field(as_date(text(root, "DueDate") or text(root, "PaymentMeans/PaymentDueDate"))),
        delivery_date=as_field(as_date(text(root, "Delivery/ActualDeliveryDate"))),
        vendor_name=as_field(_name(seller)),
        vendor_vat_id=as_vat_field(_vat_id(seller)),
        vendor_country=text(seller, "PostalAddress/Country/IdentificationCode"),
        buyer_name=as_field(_name(buyer)),
        iban=as_iban_field(map(words_of, find_all(root, ACCOUNTS)), direct_debit=bool(text(root, PAYER))),
        currency=as_field(currency),
        net=as_field(net if net is not None or lines is None else lines + adjustment),
        tax=as_field(None if tax_total is None else as_amount(words_of(tax_total))),
        total=as_field(total),
        net_adjustment=adjustment,
        payable=left.amount,
        **account_of(find_all(root, ACCOUNTS)),
        vendor_trade_name=_trade_name(seller),
        payment_reference=text(root, "PaymentMeans/PaymentID"),
        line_items=tuple(_line(line) for line in find_all(root, "InvoiceLine|CreditNoteLine")),
        tax_parts=tax_parts,
        problems=left.problems,
        reader="ubl",
    )


def _currency(root: Element, sums: Element | None) -> str | None:
    payable = find(sums, "PayableAmount")
    return text(root, "DocumentCurrencyCode") or (None if payable is None else payable.get("currencyID"))


def _order(root: Element) -> str | None:
    order = text(root, "OrderReference/ID")
    return None if order == "NA" else order


def _total(sums: Element | None) -> Decimal | None:
    """Return the amount with tax; if only the amount due is stated, earlier payments are added."""
    total, payable = amount_at(sums, "TaxInclusiveAmount"), amount_at(sums, "PayableAmount")
    if total is not None or payable is None:
        return total
    return payable + (amount_at(sums, "PrepaidAmount") or ZERO) - (amount_at(sums, "PayableRoundingAmount") or ZERO)


def _left(sums: Element | None, total: Decimal | None) -> Payable:
    amounts = (amount_at(sums, name) for name in ("PayableAmount", "PrepaidAmount", "PayableRoundingAmount"))
    return payable_of(total, *amounts)


def _name(party: Element | None) -> str | None:
    return next((name for path in PARTY_NAME if (name := text(party, path))), None)


def _trade_name(party: Element | None) -> str | None:
    """Return the trading name (BT-28), if the party has another registered name."""
    name = text(party, "PartyName/Name")
    return name if name != _name(party) else None


def _vat_id(party: Element | None) -> str | None:
    schemes = find_all(party, "PartyTaxScheme")
    return next((text(scheme, "CompanyID") for scheme in schemes if text(scheme, "TaxScheme/ID") == "VAT"), None)


def _line(line: Element) -> LineItem:
    return LineItem(
        description=text(line, "Item/Name") or "",
        quantity=amount_at(line, "InvoicedQuantity|CreditedQuantity"),
        unit_price=as_unit_price(text(line, "Price/PriceAmount"), text(line, "Price/BaseQuantity")),
        amount=amount_at(line, "LineExtensionAmount"),
        tax_rate=amount_at(line, "Item/ClassifiedTaxCategory/Percent"),
    )
