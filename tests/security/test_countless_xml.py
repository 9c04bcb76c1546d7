"""XML with millions of elements is refused by their number, in the process that opens documents, and at once."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.einvoice.xml_tree import MAX_ELEMENTS, parse_xml
from tests.api.invoices import e_invoice

COUNT = 5_000_000
NAMESPACE = b'xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"'


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    """Give a reader whose child has no memory for a tree of so many elements, and two seconds."""
    limits = ReadingLimits(memory_bytes=2**30, cpu_seconds=2, wall_seconds=60.0)
    reader = DocumentReader(workers=1, limits=limits)
    yield reader
    await reader.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")
@pytest.mark.parametrize(
    "text",
    [
        b"<Invoice " + NAMESPACE + b">" + b"<a/>" * COUNT + b"</Invoice>",
        b"<Invoice " + NAMESPACE + b">" + b"<a>1</a>" * (COUNT // 2) + b"</Invoice>",
        b"<?xml version='1.0'?><other>" + b"<a>" * COUNT,
    ],
    ids=["empty", "with text", "nested"],
)
async def test_five_million_elements_are_refused_by_count(text: bytes, reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / "countless.xml"
    path.write_bytes(text)
    with pytest.raises(UnreadableDocument) as refused:
        await reader.read(path)
    assert refused.value.code is Unreadable.TOO_LARGE
    assert f"at most {MAX_ELEMENTS} are read" in refused.value.message


def test_as_many_elements_as_allowed_are_read_and_one_more_is_not() -> None:
    inside = e_invoice("T").count(b"<") - e_invoice("T").count(b"</")
    padded = e_invoice("T").replace(b"</Invoice>", b"<a/>" * (MAX_ELEMENTS - inside) + b"</Invoice>")
    assert len(parse_xml(padded)) > MAX_ELEMENTS - 100
    with pytest.raises(UnreadableDocument, match="at most"):
        parse_xml(padded.replace(b"</Invoice>", b"<a/></Invoice>"))
