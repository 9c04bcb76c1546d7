"""E-invoices in PDFs, altered one value at a time, with the page left as it is."""

import datetime as dt
import io
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

import pikepdf
from lxml import etree

from docrail.invoices.readers.einvoice import cii, ubl
from docrail.invoices.readers.einvoice.read_xml import is_einvoice
from docrail.invoices.readers.einvoice.xml_tree import Element, find_all, parse_xml
from docrail.invoices.readers.einvoice.xml_values import as_amount, as_date
from tests.invoices.documents import attach, pdf_bytes

Paths = Mapping[str, str]
Change = Callable[[Element, Paths], None]

SUMS = f"{cii.TRADE}/{cii.SETTLEMENT}/{cii.SUMS}"
PARTIES = f"{cii.TRADE}/{cii.AGREEMENT}"
LINES = f"{cii.TRADE}/IncludedSupplyChainTradeLineItem"
CII: Paths = {
    "type": f"{cii.HEADER}/TypeCode",
    "number": f"{cii.HEADER}/ID",
    "date": f"{cii.HEADER}/{cii.ISSUED}",
    "due": f"{cii.TRADE}/{cii.SETTLEMENT}/{cii.DUE}",
    "delivered": f"{cii.TRADE}/{cii.DELIVERED}",
    "order": f"{PARTIES}/{cii.ORDER}",
    "seller": f"{PARTIES}/SellerTradeParty/Name",
    "vat": f"{PARTIES}/SellerTradeParty/SpecifiedTaxRegistration/ID",
    "buyer": f"{PARTIES}/BuyerTradeParty/Name",
    "iban": f"{cii.TRADE}/{cii.SETTLEMENT}/{cii.ACCOUNTS}",
    "currency": f"{cii.TRADE}/{cii.SETTLEMENT}/InvoiceCurrencyCode",
    "reference": f"{cii.TRADE}/{cii.SETTLEMENT}/PaymentReference",
    "lines": f"{SUMS}/LineTotalAmount",
    "charges": f"{SUMS}/ChargeTotalAmount|AllowanceTotalAmount",
    "net": f"{SUMS}/TaxBasisTotalAmount",
    "tax": f"{SUMS}/TaxTotalAmount",
    "total": f"{SUMS}/GrandTotalAmount",
    "paid": f"{SUMS}/TotalPrepaidAmount",
    "payable": f"{SUMS}/DuePayableAmount",
    "part base": f"{cii.TRADE}/{cii.SETTLEMENT}/ApplicableTradeTax/BasisAmount",
    "part tax": f"{cii.TRADE}/{cii.SETTLEMENT}/ApplicableTradeTax/CalculatedAmount",
    "line": f"{LINES}/{cii.LINE_SETTLEMENT}/{cii.LINE_SUMS}/LineTotalAmount",
}
UBL: Paths = {
    "type": "InvoiceTypeCode",
    "number": "ID",
    "date": "IssueDate",
    "due": "DueDate",
    "delivered": "Delivery/ActualDeliveryDate",
    "order": "OrderReference/ID",
    "seller": "AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName",
    "vat": "AccountingSupplierParty/Party/PartyTaxScheme/CompanyID",
    "buyer": "AccountingCustomerParty/Party/PartyLegalEntity/RegistrationName",
    "iban": ubl.ACCOUNTS,
    "currency": "DocumentCurrencyCode",
    "reference": "PaymentMeans/PaymentID",
    "lines": "LegalMonetaryTotal/LineExtensionAmount",
    "charges": "LegalMonetaryTotal/ChargeTotalAmount|AllowanceTotalAmount",
    "net": "LegalMonetaryTotal/TaxExclusiveAmount",
    "tax": "TaxTotal/TaxAmount",
    "total": "LegalMonetaryTotal/TaxInclusiveAmount",
    "paid": "LegalMonetaryTotal/PrepaidAmount",
    "payable": "LegalMonetaryTotal/PayableAmount",
    "part base": "TaxTotal/TaxSubtotal/TaxableAmount",
    "part tax": "TaxTotal/TaxSubtotal/TaxAmount",
    "line": "InvoiceLine/LineExtensionAmount",
}
AMOUNTS = ("lines", "charges", "net", "tax", "total", "paid", "payable", "part base", "part tax", "line")
LOCAL_TAX_NUMBER = "FC"
"""Scheme of a tax number that is no VAT id; it is not read."""
OTHER_IBAN, OTHER_VAT_ID = "DE89370400440532013000", "DE811907980"


def _write(name: str, value: str) -> Change:
    def change(root: Element, paths: Paths) -> None:
        for element in find_all(root, paths[name]):
            if element.get("schemeID") != LOCAL_TAX_NUMBER:
                element.text = value

    return change


def _copy(name: str, other: str) -> Change:
    """Write a value that the page prints with another meaning."""

    def change(root: Element, paths: Paths) -> None:
        source = next(find_all(root, paths[other]), None)
        if source is not None:
            _write(name, source.text or "")(root, paths)

    return change


def _move(name: str, days: int) -> Change:
    def change(root: Element, paths: Paths) -> None:
        for element in find_all(root, paths[name]):
            if date := as_date(element.text):
                moved = (date + dt.timedelta(days=days)).isoformat()
                element.text = moved if "-" in (element.text or "") else moved.replace("-", "")

    return change


def _add(amounts: Mapping[str, Decimal]) -> Change:
    def change(root: Element, paths: Paths) -> None:
        for name, more in amounts.items():
            for element in find_all(root, paths[name]):
                element.text = str((as_amount(element.text) or Decimal(0)) + more)

    return change


def _scale(root: Element, paths: Paths) -> None:
    for name in AMOUNTS:
        for element in find_all(root, paths[name]):
            element.text = str((as_amount(element.text) or Decimal(0)) * 2)


def _charge_the_net_alone(root: Element, paths: Paths) -> None:
    """Make the total the net that the page prints, with all sums in agreement; not where there is no tax."""
    if not any(as_amount(tax.text) for tax in find_all(root, paths["tax"])):
        return
    for name in ("total", "payable"):
        _copy(name, "net")(root, paths)
    for name in ("tax", "part tax", "paid"):
        _write(name, "0.00")(root, paths)


CHANGES: Mapping[str, Change] = {
    "credit note": _write("type", "381"),
    "number": _write("number", "X-99871"),
    "number of the order": _copy("number", "order"),
    "number cut": lambda root, paths: _write("number", (next(find_all(root, paths["number"])).text or "")[:-1])(
        root, paths
    ),
    "date": _move("date", 3),
    "date of delivery": _copy("date", "delivered"),
    "due date": _move("due", 10),
    "delivery date": _move("delivered", 40),
    "order": _write("order", "PO-99871"),
    "seller": _write("seller", "Schnell & Weg GmbH"),
    "seller with more": lambda root, paths: _write("seller", f"{next(find_all(root, paths['seller'])).text} & Weg KG")(
        root, paths
    ),
    "seller is the buyer": _copy("seller", "buyer"),
    "VAT id": _write("vat", OTHER_VAT_ID),
    "buyer": _write("buyer", "Schnell & Weg GmbH"),
    "account": _write("iban", OTHER_IBAN),
    "currency": _write("currency", "USD"),
    "reference": _write("reference", "RF-99871"),
    "payable": _add({"payable": Decimal(100)}),
    "payable and paid": _add({"payable": Decimal(10), "paid": Decimal(-10)}),
    "total": _add({"total": Decimal(100)}),
    "total and payable": _add({"total": Decimal(100), "payable": Decimal(100)}),
    "net": _add({"net": Decimal(10)}),
    "tax": _add({"tax": Decimal(10)}),
    "net for tax": _add({"net": Decimal(10), "tax": Decimal(-10)}),
    "all amounts": _scale,
    "net as total": _charge_the_net_alone,
    "line": _add({"line": Decimal(10)}),
    "tax row": _add({"part tax": Decimal(10)}),
}
"""Alterations of an e-invoice. One that changes nothing, because the e-invoice lacks the value, does not count."""


def einvoice_of(pdf: pikepdf.Pdf) -> tuple[str, bytes]:
    """Return the name and the bytes of the e-invoice in a PDF."""
    for name, specification in pdf.attachments.items():
        data = specification.get_file().read_bytes()
        if data.lstrip(b"\xef\xbb\xbf").startswith(b"<") and is_einvoice(parse_xml(data)):
            return name, data
    raise LookupError("no e-invoice is attached")


def alterations(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each alteration that changes something, and the altered PDF."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        name, xml = einvoice_of(pdf)
        for title, change in CHANGES.items():
            root = parse_xml(xml)
            before = etree.tostring(root)
            change(root, CII if root.tag.endswith(tuple(cii.ROOTS)) else UBL)
            if etree.tostring(root) != before:
                attach(pdf, name, etree.tostring(root))
                yield title, pdf_bytes(pdf)


def with_blank_pages(data: bytes) -> bytes:
    """Return the PDF with nothing on its pages."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for page in pdf.pages:
            page.Contents = pdf.make_stream(b"")
        return pdf_bytes(pdf)
