"""An e-invoice whose page says something else, or nothing, never passes alone; one whose page agrees does."""

import io
from functools import cache
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from bench.extraction import DEVELOPMENT, TODAY
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES, attach, make_pdf, pdf_bytes
from tests.invoices.full_invoice import CII, PAGE, UBL
from tests.invoices.tampering import alterations, einvoice_of, with_blank_pages

LABELLED = sorted((DEVELOPMENT / "einvoice_pdf").glob("*.pdf"))
"""E-invoices of the development set, where it exists."""
SHIPPED = [SAMPLES / name for name in ("zf1_comfort_rabatte.pdf", "zf2_en16931_physiotherapeut.pdf")]
CONTRADICTS_ITSELF = "zf1_COMFORT_SEPA_Prenotification.pdf"
"""Its page dates the delivery 2014, its e-invoice 2013, and their payment references differ."""
MOST_HELD_BACK = 0.01


def full(xml: str) -> bytes:
    pdf = make_pdf(PAGE)
    attach(pdf, "factur-x.xml", xml.encode())
    return pdf_bytes(pdf)


@cache
def document(name: str) -> bytes:
    made = {"full.cii": CII, "full.ubl": UBL}
    return full(made[name]) if name in made else Path(name).read_bytes()


def read(data: bytes) -> InvoiceData:
    return read_document(data, today=TODAY)


def passes(data: bytes) -> bool:
    return decide(read(data), WITHOUT_HISTORY).passes


DOCUMENTS = ["full.cii", "full.ubl", *map(str, (*SHIPPED, *LABELLED))]


def as_pictures(data: bytes) -> bytes:
    """Return the PDF with its pages as pictures."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        name, xml = einvoice_of(pdf)
    pages = pypdfium2.PdfDocument(data)
    pictures = [page.render(scale=2).to_pil().convert("RGB") for page in pages]
    buffer = io.BytesIO()
    pictures[0].save(buffer, "PDF", save_all=True, append_images=pictures[1:], resolution=144)
    with pikepdf.open(io.BytesIO(buffer.getvalue())) as pdf:
        attach(pdf, name, xml)
        return pdf_bytes(pdf)


@pytest.mark.parametrize("name", DOCUMENTS, ids=lambda name: Path(name).name)
def test_no_altered_e_invoice_passes_alone(name: str) -> None:
    passing = [title for title, altered in alterations(document(name)) if passes(altered)]
    assert passing == []


@pytest.mark.parametrize("name", DOCUMENTS, ids=lambda name: Path(name).name)
def test_an_e_invoice_with_a_blank_page_does_not_pass_alone(name: str) -> None:
    blank = with_blank_pages(document(name))
    assert not passes(blank)
    assert "not_on_page" in {problem.code for problem in read(blank).problems}


def test_hardly_any_untouched_e_invoice_is_held_back_for_its_page() -> None:
    whole = [name for name in DOCUMENTS if Path(name).name != CONTRADICTS_ITSELF]
    held = [
        name
        for name in whole
        if {"page_mismatch", "not_on_page", "payable_disagrees"} & {each.code for each in read(document(name)).problems}
        and passes_without_page(name)
    ]
    assert len(held) <= MOST_HELD_BACK * len(whole), held
    assert passes(document("full.cii"))
    assert passes(document("full.ubl"))


def passes_without_page(name: str) -> bool:
    """Return whether the XML alone would pass."""
    with pikepdf.open(io.BytesIO(document(name))) as pdf:
        return passes(einvoice_of(pdf)[1])


def test_a_disagreement_names_the_field_both_values_and_the_place() -> None:
    altered = dict(alterations(document("full.cii")))
    (problem,) = (each for each in read(altered["currency"]).problems if each.code == "page_mismatch")
    assert problem.field == "currency"
    assert "USD" in problem.message
    assert "EUR" in problem.message
    assert problem.page == 1
    assert problem.box is not None


@pytest.mark.slow
@pytest.mark.skipif(not ocr.installed(), reason="reads pictures with the extra `ocr`")
@pytest.mark.parametrize("name", ["full.cii", str(SHIPPED[0])], ids=lambda name: Path(name).name)
def test_pages_without_text_are_read_before_anything_passes(name: str) -> None:
    untouched = read(as_pictures(document(name)))
    assert {each.field for each in untouched.problems if each.code in ("page_mismatch", "not_on_page")} == set()
    for title, altered in alterations(document(name)):
        if title in ("number", "date", "account", "all amounts"):
            assert not passes(as_pictures(altered)), title
