"""The words of a document's pages, read in the same limited children as the document itself."""

from pathlib import Path

import pytest

from activities.reading import DocumentReader
from activities.reading_server import ReadingLimits
from invoices.problems import Unreadable, UnreadableDocument
from invoices.readers.pdf_words import read_pages
from tests.activities.asking import SAMPLE
from tests.activities.ubl import ubl_invoice


async def test_the_words_come_back_as_the_reader_sees_them(reader: DocumentReader) -> None:
    pages = await reader.pages(SAMPLE)
    assert pages == read_pages(SAMPLE.read_bytes())
    assert any(word.text == "717,97" for word in pages[0].words)


@pytest.mark.parametrize("data", [ubl_invoice("R-1"), b"\x89PNG\r\n\x1a\n" + bytes(100)])
async def test_what_has_no_text_layer_has_no_words(reader: DocumentReader, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "document"
    path.write_bytes(data)
    assert await reader.pages(path) == []


async def test_what_cannot_be_opened_says_why(reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(b"%PDF-1.7 and nothing else")
    with pytest.raises(UnreadableDocument) as damaged:
        await reader.pages(path)
    assert damaged.value.code is Unreadable.DAMAGED


async def test_pages_have_the_limits_of_readings() -> None:
    small = DocumentReader(limits=ReadingLimits(max_bytes=1000))
    with pytest.raises(UnreadableDocument) as refused:
        await small.pages(SAMPLE)
    assert refused.value.code is Unreadable.TOO_LARGE
    await small.close()
