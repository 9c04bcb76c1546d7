"""What a model says is looked up on a document's pages in the same limited children as the document itself."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.llm.page_check import LONGEST_QUOTE, check_on_pages, claims_of
from docrail.invoices.model import FIELD_NAMES, FieldValue, InvoiceData
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from tests.activities.asking import SAMPLE
from tests.activities.ubl import ubl_invoice

CLAIMED = InvoiceData(
    total=FieldValue(value=Decimal("717.97"), source=Source.GEMINI, word_score=0.9),
    date=FieldValue(value=dt.date(1999, 1, 1), source=Source.GEMINI),
)
CLAIMS = claims_of(CLAIMED, {"total": "Totaal 717,97"})


async def test_claims_are_found_where_the_pages_print_them(reader: DocumentReader) -> None:
    checked = await reader.check(SAMPLE, CLAIMS)
    assert checked == check_on_pages(CLAIMED, {"total": "Totaal 717,97"}, read_pages(PdfPages(SAMPLE.read_bytes())))
    assert (checked.total.evidence, checked.total.page) == ((Evidence.ON_PAGE,), 1)
    assert checked.date.evidence == (Evidence.NOT_ON_PAGE,)


async def test_the_longest_claims_fit_into_a_request(reader: DocumentReader) -> None:
    text = FieldValue[str](value="\U0001f9fe" * 500, source=Source.GEMINI)
    names = ("invoice_number", "vendor_name", "buyer_name", "vendor_vat_id", "iban", "currency")
    reported = InvoiceData.model_validate(dict.fromkeys(names, text))
    claims = claims_of(reported, dict.fromkeys(FIELD_NAMES, "\U0001f9fe\x01" * LONGEST_QUOTE))
    assert (await reader.check(SAMPLE, claims)).vendor_name.value == text.value


@pytest.mark.parametrize("data", [ubl_invoice("R-1"), b"\x89PNG\r\n\x1a\n" + bytes(100)])
async def test_a_page_without_text_layer_says_nothing(reader: DocumentReader, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "document"
    path.write_bytes(data)
    assert await reader.check(path, CLAIMS) == CLAIMED


async def test_an_unreadable_file_says_why(reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(b"%PDF-1.7 and nothing else")
    with pytest.raises(UnreadableDocument) as damaged:
        await reader.check(path, CLAIMS)
    assert damaged.value.code is Unreadable.DAMAGED


async def test_pages_have_the_limits_of_readings() -> None:
    small = DocumentReader(limits=ReadingLimits(max_bytes=1000))
    with pytest.raises(UnreadableDocument) as refused:
        await small.check(SAMPLE, CLAIMS)
    assert refused.value.code is Unreadable.TOO_LARGE
    await small.close()


def row_of_words(words: int) -> bytes:
    """Return a PDF with one page, on which so many words stand in one row."""
    text = b"BT /F1 0.05 Tf 1 100 Td (" + b"a " * words + b") Tj ET"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(text), text),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    return (
        b"%PDF-1.7\n"
        + b"\n".join(b"%d 0 obj%sendobj" % item for item in enumerate(objects, 1))
        + (b"\ntrailer<</Root 1 0 R/Size 6>>\n%%EOF\n")
    )


async def test_a_row_of_ten_thousand_words_is_given_up_in_time(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(row_of_words(16_384))
    impatient = DocumentReader(limits=ReadingLimits(cpu_seconds=1))
    with pytest.raises(UnreadableDocument) as stopped:
        await impatient.check(path, CLAIMS)
    assert stopped.value.code is Unreadable.TIMED_OUT
    await impatient.close()
