"""Read e-invoice XML: detect the standard of a document and use its reader."""

from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.einvoice import cii, ubl
from docrail.invoices.readers.einvoice.xml_tree import Element, local_name, parse_xml

MAX_LINES = 20_000
"""Lines and tax rows. A child process takes a second for each 10,000; the longest known invoices have 5,000."""
LINES = frozenset(
    {"InvoiceLine", "CreditNoteLine", "IncludedSupplyChainTradeLineItem", "TaxSubtotal", "ApplicableTradeTax"}
)


def read_einvoice_xml(data: bytes) -> InvoiceData:
    """Return the contents of the e-invoice. Raises: UnreadableDocument for damaged, unsafe or other XML."""
    root = parse_xml(data)
    if is_einvoice(root):
        count = sum(1 for element in root.iter() if local_name(element) in LINES)
        if count > MAX_LINES:
            raise UnreadableDocument(
                Unreadable.TOO_LARGE,
                f"The e-invoice has {count} lines; at most {MAX_LINES} are read. Ask the sender to split it.",
            )
        return cii.read_cii(root) if local_name(root) in cii.ROOTS else ubl.read_ubl(root)
    raise UnreadableDocument(
        Unreadable.NOT_AN_INVOICE,
        f"The XML is a '{local_name(root)}', not an invoice. Expected a UBL Invoice or CreditNote, "
        "or a CII invoice (ZUGFeRD, Factur-X, XRechnung). Send the invoice itself, or its PDF.",
    )


def is_einvoice(root: Element) -> bool:
    """Return whether `root` is the root element of a supported standard."""
    if local_name(root) in cii.ROOTS:
        return True
    return local_name(root) in ubl.ROOTS and ":ubl:" in str(root.tag)
