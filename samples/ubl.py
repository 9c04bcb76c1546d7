"""Write an invoice as an e-invoice in UBL."""

from xml.sax.saxutils import escape

from docrail.samples.bill import Bill, Line


def ubl(bill: Bill) -> bytes:
    """Return the e-invoice."""
    vendor = bill.vendor
    values = {
        "number": bill.number,
        "date": bill.date.isoformat(),
        "due": bill.due.isoformat(),
        "vendor": vendor.name,
        "street": vendor.street,
        "country": vendor.country,
        "vat_id": vendor.vat_id,
        "iban": vendor.iban,
        "currency": vendor.currency,
        "percent": str(vendor.tax_percent),
        "net": str(bill.net),
        "tax": str(bill.tax),
        "total": str(bill.total),
    }
    escaped = {name: escape(value) for name, value in values.items()}
    lines = "".join(_line(index, line, vendor.currency) for index, line in enumerate(bill.lines, start=1))
    return INVOICE.format(**escaped, lines=lines).encode()


def _line(index: int, line: Line, currency: str) -> str:
    values = {"quantity": line.quantity, "amount": f"{line.amount:.2f}", "price": line.price}
    return LINE.format(index=index, name=escape(line.description), currency=currency, **values)


LINE = """
  <cac:InvoiceLine>
    <cbc:ID>{index}</cbc:ID>
    <cbc:InvoicedQuantity unitCode="C62">{quantity}</cbc:InvoicedQuantity>
    <cbc:LineExtensionAmount currencyID="{currency}">{amount}</cbc:LineExtensionAmount>
    <cac:Item><cbc:Name>{name}</cbc:Name></cac:Item>
    <cac:Price><cbc:PriceAmount currencyID="{currency}">{price}</cbc:PriceAmount></cac:Price>
  </cac:InvoiceLine>"""

INVOICE = """<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:CustomizationID>urn:cen.eu:en16931:2017</cbc:CustomizationID>
  <cbc:ID>{number}</cbc:ID>
  <cbc:IssueDate>{date}</cbc:IssueDate>
  <cbc:DueDate>{due}</cbc:DueDate>
  <cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>
  <cbc:DocumentCurrencyCode>{currency}</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty><cac:Party>
    <cac:PostalAddress><cbc:StreetName>{street}</cbc:StreetName>
      <cac:Country><cbc:IdentificationCode>{country}</cbc:IdentificationCode></cac:Country></cac:PostalAddress>
    <cac:PartyTaxScheme><cbc:CompanyID>{vat_id}</cbc:CompanyID>
      <cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>
    <cac:PartyLegalEntity><cbc:RegistrationName>{vendor}</cbc:RegistrationName></cac:PartyLegalEntity>
  </cac:Party></cac:AccountingSupplierParty>
  <cac:AccountingCustomerParty><cac:Party>
    <cac:PartyLegalEntity><cbc:RegistrationName>Atelier Nord GmbH</cbc:RegistrationName></cac:PartyLegalEntity>
  </cac:Party></cac:AccountingCustomerParty>
  <cac:PaymentMeans><cbc:PaymentMeansCode>58</cbc:PaymentMeansCode>
    <cac:PayeeFinancialAccount><cbc:ID>{iban}</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>
  <cac:TaxTotal><cbc:TaxAmount currencyID="{currency}">{tax}</cbc:TaxAmount>
    <cac:TaxSubtotal><cbc:TaxableAmount currencyID="{currency}">{net}</cbc:TaxableAmount>
      <cbc:TaxAmount currencyID="{currency}">{tax}</cbc:TaxAmount>
      <cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>{percent}</cbc:Percent>
        <cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal></cac:TaxTotal>
  <cac:LegalMonetaryTotal>
    <cbc:LineExtensionAmount currencyID="{currency}">{net}</cbc:LineExtensionAmount>
    <cbc:TaxExclusiveAmount currencyID="{currency}">{net}</cbc:TaxExclusiveAmount>
    <cbc:TaxInclusiveAmount currencyID="{currency}">{total}</cbc:TaxInclusiveAmount>
    <cbc:PayableAmount currencyID="{currency}">{total}</cbc:PayableAmount>
  </cac:LegalMonetaryTotal>{lines}
</Invoice>
"""
