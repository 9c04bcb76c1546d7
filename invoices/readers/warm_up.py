"""Trigger the lazy initialization of the libraries, so that forked children start warmed up."""

import datetime as dt
import io
import re

import pikepdf

from docrail.invoices.readers.layout import spelling
from docrail.invoices.readers.read import read_document
from docrail.invoices.values import identifiers

PRINTED = """\
40 790 Muster Bau GmbH
40 778 Hauptstr. 1, 10115 Berlin, Germany
40 700 Bill to: Example Ltd
40 688 1 High Street
40 640 Invoice
360 640 Invoice no.
440 640 2026-0417
360 628 Invoice date
440 628 02.01.2026
360 616 Due date
440 616 01.02.2026
40 560 Description
300 560 Quantity
380 560 Price
480 560 Amount
40 545 Bricks, red
300 545 2
380 545 50.00
480 545 100.00
380 500 Net
480 500 100.00
380 488 VAT 19 %
480 488 19.00
380 476 Total EUR
480 476 119.00
40 60 VAT ID DE136695976, IBAN DE02 1203 0000 0000 2020 51, Amtsgericht Berlin HRB 1234
"""
"""Texts of an invoice with their left edge and height in points: the readers' code runs once with what occurs on most.
"""
DRAWN = b"40 555 480 0.5 re f q 100 0 0 100 400 700 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"
"""A line and a picture."""
ROUNDS = 10
"""Python adapts a function's code to its arguments from the eighth call on; each child would do it anew."""
XML = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>'


def warm_up() -> None:
    """Read small documents of each type except images, whose models are loaded with the first image.

    Measured: a text PDF then takes 1 to 2 ms less in a child, and by the further rounds another 0.6 ms. Takes 0.1 s.
    """
    identifiers.warm_up()
    spelling.warm_up()  # used only where a label is missing, and PRINTED has all of them
    for data in (XML, _pdf()) * ROUNDS:
        read_document(data, today=dt.date(2026, 1, 3))


def _pdf() -> bytes:
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(595, 842))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=pdf.make_indirect(font)))
    texts = re.sub(r"(\d+ \d+) (.+)", r"BT /F1 9 Tf \1 Td (\2) Tj ET", PRINTED)
    page.Contents = pdf.make_stream(DRAWN + b"\n" + texts.encode())
    buffer = io.BytesIO()
    pdf.save(buffer)
    return buffer.getvalue()
