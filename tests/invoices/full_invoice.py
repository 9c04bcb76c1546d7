"""One invoice that says every field, as CII, as UBL and as a printed page."""

import datetime as dt

from tests.invoices.documents import Line

TODAY = dt.date(2026, 3, 20)
NOON = dt.datetime(2026, 3, 20, 12, tzinfo=dt.UTC)
TRUTH = {
    "document_type": "invoice",
    "invoice_number": "RE-17",
    "order_reference": "PO-4711",
    "date": "2026-03-02",
    "due_date": "2026-03-16",
    "delivery_date": "2026-02-27",
    "vendor_name": "Muster GmbH",
    "vendor_vat_id": "DE136695976",
    "buyer_name": "Beispiel AG",
    "iban": "DE02120300000000202051",
    "currency": "EUR",
    "net": "100.00",
    "tax": "19.00",
    "total": "119.00",
}
"""In the text of `field_values`."""
PAGE: list[Line] = [
    (50, 60, "Muster GmbH"),
    (50, 74, "Hauptstr. 1, 10115 Berlin"),
    (50, 120, "Invoice to:"),
    (50, 134, "Beispiel AG"),
    (50, 148, "Markt 2, 20095 Hamburg"),
    (50, 190, "Invoice number: RE-17"),
    (50, 204, "Invoice date: 02.03.2026"),
    (50, 218, "Due date: 16.03.2026"),
    (50, 232, "Delivery date: 27.02.2026"),
    (50, 246, "Order number: PO-4711"),
    (50, 300, "Description"),
    (400, 300, "Amount EUR"),
    (50, 316, "Work"),
    (400, 316, "100.00"),
    (50, 350, "Net"),
    (400, 350, "100.00"),
    (50, 364, "VAT 19 %"),
    (400, 364, "19.00"),
    (50, 378, "Total"),
    (400, 378, "119.00"),
    (50, 760, "VAT ID: DE136695976"),
    (250, 760, "IBAN: DE02 1203 0000 0000 2020 51"),
]
CII = """<?xml version="1.0" encoding="UTF-8"?>
<CrossIndustryInvoice>
<ExchangedDocument><ID>RE-17</ID><TypeCode>380</TypeCode>
<IssueDateTime><DateTimeString format="102">20260302</DateTimeString></IssueDateTime></ExchangedDocument>
<SupplyChainTradeTransaction>
<IncludedSupplyChainTradeLineItem><SpecifiedTradeProduct><Name>Work</Name></SpecifiedTradeProduct>
<SpecifiedLineTradeSettlement><SpecifiedTradeSettlementLineMonetarySummation><LineTotalAmount>100.00</LineTotalAmount>
</SpecifiedTradeSettlementLineMonetarySummation></SpecifiedLineTradeSettlement></IncludedSupplyChainTradeLineItem>
<ApplicableHeaderTradeAgreement>
<SellerTradeParty><Name>Muster GmbH</Name>
<SpecifiedTaxRegistration><ID schemeID="VA">DE136695976</ID></SpecifiedTaxRegistration></SellerTradeParty>
<BuyerTradeParty><Name>Beispiel AG</Name></BuyerTradeParty>
<BuyerOrderReferencedDocument><IssuerAssignedID>PO-4711</IssuerAssignedID></BuyerOrderReferencedDocument>
</ApplicableHeaderTradeAgreement>
<ApplicableHeaderTradeDelivery><ActualDeliverySupplyChainEvent><OccurrenceDateTime>
<DateTimeString format="102">20260227</DateTimeString></OccurrenceDateTime></ActualDeliverySupplyChainEvent>
</ApplicableHeaderTradeDelivery>
<ApplicableHeaderTradeSettlement>
<InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
<SpecifiedTradeSettlementPaymentMeans><PayeePartyCreditorFinancialAccount><IBANID>DE02120300000000202051</IBANID>
</PayeePartyCreditorFinancialAccount></SpecifiedTradeSettlementPaymentMeans>
<SpecifiedTradePaymentTerms><DueDateDateTime><DateTimeString format="102">20260316</DateTimeString></DueDateDateTime>
</SpecifiedTradePaymentTerms>
<SpecifiedTradeSettlementHeaderMonetarySummation>
<LineTotalAmount>100.00</LineTotalAmount><TaxBasisTotalAmount>100.00</TaxBasisTotalAmount>
<TaxTotalAmount currencyID="EUR">19.00</TaxTotalAmount><GrandTotalAmount>119.00</GrandTotalAmount>
</SpecifiedTradeSettlementHeaderMonetarySummation>
</ApplicableHeaderTradeSettlement>
</SupplyChainTradeTransaction>
</CrossIndustryInvoice>"""
UBL = """<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
 xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
<cbc:ID>RE-17</cbc:ID><cbc:IssueDate>2026-03-02</cbc:IssueDate><cbc:DueDate>2026-03-16</cbc:DueDate>
<cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
<cac:OrderReference><cbc:ID>PO-4711</cbc:ID></cac:OrderReference>
<cac:AccountingSupplierParty><cac:Party><cac:PartyTaxScheme><cbc:CompanyID>DE136695976</cbc:CompanyID>
<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>
<cac:PartyLegalEntity><cbc:RegistrationName>Muster GmbH</cbc:RegistrationName></cac:PartyLegalEntity>
</cac:Party></cac:AccountingSupplierParty>
<cac:AccountingCustomerParty><cac:Party><cac:PartyLegalEntity><cbc:RegistrationName>Beispiel AG</cbc:RegistrationName>
</cac:PartyLegalEntity></cac:Party></cac:AccountingCustomerParty>
<cac:Delivery><cbc:ActualDeliveryDate>2026-02-27</cbc:ActualDeliveryDate></cac:Delivery>
<cac:PaymentMeans><cac:PayeeFinancialAccount><cbc:ID>DE02120300000000202051</cbc:ID></cac:PayeeFinancialAccount>
</cac:PaymentMeans>
<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">19.00</cbc:TaxAmount></cac:TaxTotal>
<cac:LegalMonetaryTotal><cbc:LineExtensionAmount currencyID="EUR">100.00</cbc:LineExtensionAmount>
<cbc:TaxExclusiveAmount currencyID="EUR">100.00</cbc:TaxExclusiveAmount>
<cbc:TaxInclusiveAmount currencyID="EUR">119.00</cbc:TaxInclusiveAmount></cac:LegalMonetaryTotal>
<cac:InvoiceLine><cbc:LineExtensionAmount currencyID="EUR">100.00</cbc:LineExtensionAmount>
<cac:Item><cbc:Name>Work</cbc:Name></cac:Item></cac:InvoiceLine>
</Invoice>"""
