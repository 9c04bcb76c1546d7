"""Documents for the tests: the samples with their truth, and PDFs and XML made on the spot."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pikepdf

from docrail.invoices.readers.ocr import read as ocr

SAMPLES = Path(__file__).parents[2] / "samples"
EXPECTED: list[dict[str, Any]] = json.loads((SAMPLES / "EXPECTED.json").read_text())["files"]
READABLE = [entry for entry in EXPECTED if "expected" in entry and (entry["reader"] != "ocr" or ocr.installed())]
PAGE_HEIGHT = 842

Line = tuple[float, float, str]
"""x and y from the page's top left corner, in points, and its text."""


def make_pdf(*pages: Sequence[Line], rotate: int = 0) -> pikepdf.Pdf:
    """Return a PDF with the lines printed in Helvetica 10."""
    pdf = pikepdf.new()
    font = pdf.make_indirect(
        pikepdf.Dictionary(
            Type=pikepdf.Name.Font,
            Subtype=pikepdf.Name.Type1,
            BaseFont=pikepdf.Name.Helvetica,
            Encoding=pikepdf.Name.WinAnsiEncoding,
        )
    )
    for lines in pages:
        page = pdf.add_blank_page(page_size=(595, PAGE_HEIGHT))
        page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        page.Contents = pdf.make_stream(b"\n".join(map(_show, lines)))
        if rotate:
            page.Rotate = rotate
    return pdf


def _show(line: Line) -> bytes:
    x, y, text = line
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 10 Tf {x} {PAGE_HEIGHT - y} Td ({escaped}) Tj ET".encode("cp1252")


def pdf_bytes(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    """Return the PDF as a file."""
    buffer = io.BytesIO()
    pdf.save(buffer, **options)
    return buffer.getvalue()


def attach(pdf: pikepdf.Pdf, name: str, data: bytes) -> None:
    """Embed a file."""
    pdf.attachments[name] = pikepdf.AttachedFileSpec(
        pdf, data, filename=name, description="", mime_type="", creation_date="", mod_date=""
    )


def ubl_invoice(**changes: str) -> bytes:
    """Return a small UBL invoice; `changes` replaces its values by name."""
    values = {
        "root": "Invoice",
        "number": "RE-1",
        "date": "2026-03-02",
        "type_code": "380",
        "vendor": "Muster GmbH",
        "iban": "DE02120300000000202051",
        "net": "100.00",
        "tax": "19.00",
        "total": "119.00",
    } | changes
    return UBL.format(**values).encode()


UBL = """<?xml version="1.0" encoding="UTF-8"?>
<{root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:{root}-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
 xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
<cbc:ID>{number}</cbc:ID><cbc:IssueDate>{date}</cbc:IssueDate><cbc:{root}TypeCode>{type_code}</cbc:{root}TypeCode>
<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
<cac:AccountingSupplierParty><cac:Party><cac:PartyLegalEntity><cbc:RegistrationName>{vendor}</cbc:RegistrationName>
</cac:PartyLegalEntity></cac:Party></cac:AccountingSupplierParty>
<cac:PaymentMeans><cac:PayeeFinancialAccount><cbc:ID>{iban}</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>
<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">{tax}</cbc:TaxAmount></cac:TaxTotal>
<cac:LegalMonetaryTotal><cbc:TaxExclusiveAmount currencyID="EUR">{net}</cbc:TaxExclusiveAmount>
<cbc:TaxInclusiveAmount currencyID="EUR">{total}</cbc:TaxInclusiveAmount></cac:LegalMonetaryTotal>
<cac:{root}Line><cbc:LineExtensionAmount currencyID="EUR">{net}</cbc:LineExtensionAmount>
<cac:Item><cbc:Name>Work</cbc:Name></cac:Item></cac:{root}Line>
</{root}>"""
