"""Read UN/CEFACT Cross Industry Invoices: ZUGFeRD 1.0, Factur-X, ZUGFeRD 2.x and XRechnung CII."""

from decimal import Decimal

from docrail.invoices.model import InvoiceData, LineItem
from docrail.invoices.readers.einvoice.xml_tree import Element, find, find_all, text, words_of
from docrail.invoices.readers.einvoice.xml_values import (
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
    sum_of,
    tax_part,
)

ROOTS = frozenset({"CrossIndustryInvoice", "CrossIndustryDocument"})
"""Root elements of versions 2 and 1. Their element names differ, so each path below has both."""
HEADER = "ExchangedDocument|HeaderExchangedDocument"
TRADE = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
AGREEMENT = "ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
SETTLEMENT = "ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
SUMS = "SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
ACCOUNTS = "SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID|ProprietaryID"
"""The second is for national account numbers, but senders write IBANs there too."""
DUE_SUMS = ("DuePayableAmount", "TotalPrepaidAmount", "RoundingAmount")
TRADE_NAME = "SpecifiedLegalOrganization/TradingBusinessName"
PAYER = "SpecifiedTradeSettlementPaymentMeans/PayerPartyDebtorFinancialAccount/IBANID"
ISSUED = "IssueDateTime/DateTimeString|DateTime"
DUE = "SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString|DateTime"
DELIVERY = "ApplicableHeaderTradeDelivery|ApplicableSupplyChainTradeDelivery"
DELIVERED = f"{DELIVERY}/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString|DateTime"
ORDER = "BuyerOrderReferencedDocument/IssuerAssignedID|ID"
LINE_SETTLEMENT = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
LINE_SUMS = "SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
LINE_AGREEMENT = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement"
LINE_DELIVERY = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery"
SUMMARY_LINES = frozenset({"GROUP", "INFORMATION"})
"""EXTENDED profile: a group repeats the sum of the lines below it, which are charged themselves."""
PRICE = "NetPriceProductTradePrice/ChargeAmount"
PRICE_BASE = "NetPriceProductTradePrice/BasisQuantity"
ZERO = Decimal(0)
RATE = "RateApplicablePercent|ApplicablePercent"


def read_cii(root: Element) -> InvoiceData:
    """Convert a CII invoice."""
    header, trade = find(root, HEADER), find(root, TRADE)
    agreement, settlement = find(trade, AGREEMENT), find(trade, SETTLEMENT)
    seller, sums = find(agreement, "SellerTradeParty"), find(settlement, SUMS)
    currency = _currency(settlement, sums)
    total = amount_at(sums, "GrandTotalAmount")
    adjustment = (amount_at(sums, "ChargeTotalAmount") or ZERO) - (amount_at(sums, "AllowanceTotalAmount") or ZERO)
    rows = find_all(settlement, "ApplicableTradeTax")
    taxes = (tax_part(row, rate=RATE, base="BasisAmount", tax="CalculatedAmount") for row in rows)
    tax_parts = tuple(part for part in taxes if part)
    net, lines = amount_at(sums, "TaxBasisTotalAmount"), amount_at(sums, "LineTotalAmount")
    payable = payable_of(total, *(amount_at(sums, name) for name in DUE_SUMS))
    stated = own_amount(find_all(sums, "TaxTotalAmount"), currency)
    return InvoiceData(
        document_type=as_field(as_document_type(text(header, "TypeCode"), total)),
        invoice_number=as_field(text(header, "ID")),
        order_reference=as_field(text(agreement, ORDER)),
        date=as_field(as_date(text(header, ISSUED))),
        due_date=as_field(as_date(text(settlement, DUE))),
        delivery_date=as_field(as_date(text(trade, DELIVERED))),
        vendor_name=as_field(text(seller, "Name")),
        vendor_vat_id=as_vat_field(_vat_id(seller)),
        vendor_country=text(seller, "PostalTradeAddress/CountryID"),
        buyer_name=as_field(text(agreement, "BuyerTradeParty/Name")),
        iban=as_iban_field(map(words_of, find_all(settlement, ACCOUNTS)), direct_debit=bool(text(settlement, PAYER))),
        currency=as_field(currency),
        net=as_field(net if net is not None or lines is None else lines + adjustment),
        tax=as_field(sum_of(part.tax for part in tax_parts) if stated is None else as_amount(words_of(stated))),
        total=as_field(total),
        net_adjustment=adjustment,
        payable=payable.amount,
        **account_of(find_all(settlement, ACCOUNTS)),
        vendor_trade_name=text(seller, TRADE_NAME),
        payment_reference=text(settlement, "PaymentReference"),
        line_items=tuple(_line(line) for line in _charged_lines(trade)),
        tax_parts=tax_parts,
        problems=payable.problems,
        reader="cii",
    )


def _currency(settlement: Element | None, sums: Element | None) -> str | None:
    """Return the currency code; some senders leave it empty and give the currency only at the amounts."""
    total = find(sums, "GrandTotalAmount")
    return text(settlement, "InvoiceCurrencyCode") or (None if total is None else total.get("currencyID"))


def _vat_id(party: Element | None) -> str | None:
    ids = find_all(party, "SpecifiedTaxRegistration/ID")
    return next((words_of(element) for element in ids if element.get("schemeID") == "VA"), None)


def _charged_lines(trade: Element | None) -> list[Element]:
    """Return the charged lines. ZUGFeRD 1.0 has notes among the lines, which have no amount."""
    lines = find_all(trade, "IncludedSupplyChainTradeLineItem")
    return [
        line
        for line in lines
        if text(line, f"{LINE_SETTLEMENT}/{LINE_SUMS}/LineTotalAmount")
        and text(line, "AssociatedDocumentLineDocument/LineStatusReasonCode") not in SUMMARY_LINES
    ]


def _line(line: Element) -> LineItem:
    return LineItem(
        description=text(line, "SpecifiedTradeProduct/Name") or "",
        quantity=amount_at(line, f"{LINE_DELIVERY}/BilledQuantity"),
        unit_price=as_unit_price(text(line, f"{LINE_AGREEMENT}/{PRICE}"), text(line, f"{LINE_AGREEMENT}/{PRICE_BASE}")),
        amount=amount_at(line, f"{LINE_SETTLEMENT}/{LINE_SUMS}/LineTotalAmount"),
        tax_rate=amount_at(line, f"{LINE_SETTLEMENT}/ApplicableTradeTax/{RATE}"),
    )
