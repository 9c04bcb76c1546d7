"""Reads UN/CEFACT Cross Industry Invoices: ZUGFeRD 1.0, Factur-X, ZUGFeRD 2.x and XRechnung CII."""

from invoices.model import DocumentType, InvoiceData, LineItem, TaxPart
from invoices.readers.xml_tree import Element, find, find_all, text
from invoices.readers.xml_values import as_amount, as_date, as_field, as_iban_field, as_vat_field

ROOTS = frozenset({"CrossIndustryInvoice", "CrossIndustryDocument"})
"""Versions 2 and 1; their element names differ, so every path below names both."""
CREDIT_NOTE_CODES = frozenset({"81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532"})
"""UNTDID 1001 as EN 16931 sorts it. 389, self-billed (German: Gutschrift), asks for money as an invoice does."""
HEADER = "ExchangedDocument|HeaderExchangedDocument"
TRADE = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
AGREEMENT = "ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
SETTLEMENT = "ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
SUMS = "SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
PAYMENT = "SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount"
LINE_SETTLEMENT = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
LINE_SUMS = "SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
LINE_AGREEMENT = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement"
LINE_DELIVERY = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery"
RATE = "RateApplicablePercent|ApplicablePercent"


def read_cii(root: Element) -> InvoiceData:
    """Return what a CII invoice says, exactly."""
    header, trade = find(root, HEADER), find(root, TRADE)
    agreement, settlement = find(trade, AGREEMENT), find(trade, SETTLEMENT)
    seller, sums = find(agreement, "SellerTradeParty"), find(settlement, SUMS)
    currency = text(settlement, "InvoiceCurrencyCode")
    due = text(settlement, "SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString")
    is_credit_note = text(header, "TypeCode") in CREDIT_NOTE_CODES
    return InvoiceData(
        document_type=DocumentType.CREDIT_NOTE if is_credit_note else DocumentType.INVOICE,
        invoice_number=as_field(text(header, "ID")),
        date=as_field(as_date(text(header, "IssueDateTime/DateTimeString"))),
        due_date=as_field(as_date(due)),
        vendor_name=as_field(text(seller, "Name")),
        vendor_vat_id=as_vat_field(_vat_id(seller)),
        vendor_country=text(seller, "PostalTradeAddress/CountryID"),
        buyer_name=as_field(text(agreement, "BuyerTradeParty/Name")),
        iban=as_iban_field(text(settlement, f"{PAYMENT}/IBANID")),
        currency=as_field(currency),
        net=as_field(as_amount(text(sums, "TaxBasisTotalAmount"))),
        tax=as_field(as_amount(_tax_total(sums, currency))),
        total=as_field(as_amount(text(sums, "GrandTotalAmount"))),
        net_adjustment=(as_amount(text(sums, "ChargeTotalAmount")) or 0)
        - (as_amount(text(sums, "AllowanceTotalAmount")) or 0),
        line_items=tuple(_line(line) for line in _charged_lines(trade)),
        tax_parts=tuple(part for row in find_all(settlement, "ApplicableTradeTax") if (part := _tax_part(row))),
        reader="cii",
    )


def _vat_id(party: Element | None) -> str | None:
    ids = find_all(party, "SpecifiedTaxRegistration/ID")
    return next((element.text for element in ids if element.get("schemeID") == "VA"), None)


def _tax_total(sums: Element | None, currency: str | None) -> str | None:
    """The tax may be stated in a second, accounting currency: the invoice's own counts."""
    amounts = list(find_all(sums, "TaxTotalAmount"))
    own = [amount for amount in amounts if amount.get("currencyID") in (currency, None)]
    return next((amount.text for amount in own or amounts), None)


def _charged_lines(trade: Element | None) -> list[Element]:
    """ZUGFeRD 1.0 puts notes among the lines: a line without an amount charges nothing."""
    lines = find_all(trade, "IncludedSupplyChainTradeLineItem")
    return [line for line in lines if text(line, f"{LINE_SETTLEMENT}/{LINE_SUMS}/LineTotalAmount")]


def _line(line: Element) -> LineItem:
    return LineItem(
        description=text(line, "SpecifiedTradeProduct/Name") or "",
        quantity=as_amount(text(line, f"{LINE_DELIVERY}/BilledQuantity")),
        unit_price=as_amount(text(line, f"{LINE_AGREEMENT}/NetPriceProductTradePrice/ChargeAmount")),
        amount=as_amount(text(line, f"{LINE_SETTLEMENT}/{LINE_SUMS}/LineTotalAmount")),
        tax_rate=as_amount(text(line, f"{LINE_SETTLEMENT}/ApplicableTradeTax/{RATE}")),
    )


def _tax_part(row: Element) -> TaxPart | None:
    tax = as_amount(text(row, "CalculatedAmount"))
    if tax is None:
        return None
    return TaxPart(rate=as_amount(text(row, RATE)), base=as_amount(text(row, "BasisAmount")), tax=tax)
