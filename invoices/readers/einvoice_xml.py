"""Reads e-invoice XML exactly: finds out which standard a document follows and hands it to that standard's reader."""

from invoices.model import InvoiceData
from invoices.problems import Unreadable, UnreadableDocument
from invoices.readers import cii, ubl
from invoices.readers.xml_tree import Element, local_name, parse_xml


def read_einvoice_xml(data: bytes) -> InvoiceData:
    """Return what the e-invoice says. Raises: UnreadableDocument for damaged, unsafe or other XML."""
    root = parse_xml(data)
    if is_einvoice(root):
        return cii.read_cii(root) if local_name(root) in cii.ROOTS else ubl.read_ubl(root)
    raise UnreadableDocument(
        Unreadable.NOT_AN_INVOICE,
        f"The XML is a '{local_name(root)}', not an invoice. Expected a UBL Invoice or CreditNote, "
        "or a CII invoice (ZUGFeRD, Factur-X, XRechnung). Send the invoice itself, or its PDF.",
    )


def is_einvoice(root: Element) -> bool:
    """Tell whether `root` begins a document of a standard that is read here."""
    if local_name(root) in cii.ROOTS:
        return True
    return local_name(root) in ubl.ROOTS and ":ubl:" in str(root.tag)
