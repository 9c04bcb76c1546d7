"""Trigger the lazy initialization of the libraries, so that forked children start warmed up."""

import datetime as dt
import io

import pikepdf

from docrail.invoices.readers.read import read_document
from docrail.invoices.values import identifiers

PRINTED = b"BT /F1 9 Tf 20 150 Td (Invoice no. 1 of 2026-01-02) Tj 0 -20 Td (Total EUR 1.00) Tj ET"
XML = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>'


def warm_up() -> None:
    """Read a small document of each type except images, whose models are loaded with the first image."""
    identifiers.warm_up()
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(200, 200))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=pdf.make_indirect(font)))
    page.Contents = pdf.make_stream(PRINTED)
    buffer = io.BytesIO()
    pdf.save(buffer)
    for data in (XML, buffer.getvalue()):
        read_document(data, today=dt.date(2026, 1, 3))
