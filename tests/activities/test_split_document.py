"""A file of several invoices becomes documents of their own: once, all or none, and each is read alone."""

import asyncio
import dataclasses
from pathlib import Path

import pytest

from docrail.activities.handlers import extract_invoice, split_document
from docrail.adapters.postgres.pool import NotStored
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.dag.values.json_values import Json
from docrail.services.documents.models import Document
from docrail.services.documents.service import load_document
from docrail.services.tools import Tools
from tests.activities.test_handlers import call
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.test_several_invoices import SECOND_PAGE, invoice
from tests.postgres import TENANT, new_document_id, upload


@pytest.fixture
def tools(keyless: Tools) -> Tools:
    return keyless


async def several(tools: Tools) -> tuple[Document, Json]:
    """Upload a file of two invoices with numbers of their own, and read it."""
    one, two = new_document_id()[4:12].upper(), new_document_id()[4:12].upper()
    pages = invoice(f"A-{one}", "119,00"), SECOND_PAGE, invoice(f"B-{two}", "238,00")
    blob = await tools.blobs.put(pdf_bytes(make_pdf(*pages)))
    document = await upload(tools.db, blob=blob)
    return document, await call(extract_invoice.HANDLER, tools, document_id=document.document_id)


async def loaded(tools: Tools, document_id: str) -> Document:
    document = await load_document(tools.db, TENANT, document_id)
    assert document is not None
    return document


async def test_two_invoices_in_a_file_are_two_documents_with_their_totals(tools: Tools) -> None:
    document, read = await several(tools)
    assert read["parts"] == 2
    output = await call(split_document.HANDLER, tools, invoice=read["invoice_ref"])
    parts = [await loaded(tools, document_id) for document_id in output["documents"]]
    assert [(part.part_of, part.first_page, part.last_page) for part in parts] == [
        (document.document_id, 1, 2),
        (document.document_id, 3, 3),
    ]
    assert {part.received_at for part in parts} == {document.received_at}
    assert [part.file_name for part in parts] == ["invoice, p. 1-2.pdf", "invoice, p. 3.pdf"]
    assert (await loaded(tools, document.document_id)).parts == output["documents"]
    totals = [await call(extract_invoice.HANDLER, tools, document_id=part.document_id) for part in parts]
    assert [(each["total"], each["parts"]) for each in totals] == [(119, 0), (238, 0)]


async def test_repeated_and_concurrent_attempts_give_the_same_documents(tools: Tools) -> None:
    document, read = await several(tools)
    calls = (call(split_document.HANDLER, tools, invoice=read["invoice_ref"]) for _ in range(4))
    first, *others = await asyncio.gather(*calls)
    assert others == [first] * 3
    assert await call(split_document.HANDLER, tools, invoice=read["invoice_ref"]) == first
    assert (await loaded(tools, document.document_id)).parts == first["documents"]


class FailsOnce(DocumentReader):
    """A reader that is gone when the second part is cut, once."""

    def __init__(self, reader: DocumentReader) -> None:
        super().__init__()
        self._reader, self._calls = reader, 0

    async def cut(self, path: Path, first: int, last: int) -> bytes:
        self._calls += 1
        if self._calls == 2:
            raise OSError("the reading server was killed")
        return await self._reader.cut(path, first, last)


async def test_an_attempt_that_is_cut_short_leaves_no_document_and_the_next_one_all(tools: Tools) -> None:
    document, read = await several(tools)
    failing = dataclasses.replace(tools, reader=FailsOnce(tools.reader))
    with pytest.raises(OSError, match="killed"):
        await call(split_document.HANDLER, failing, invoice=read["invoice_ref"])
    assert (await loaded(tools, document.document_id)).parts == []
    output = await call(split_document.HANDLER, failing, invoice=read["invoice_ref"])
    assert len(output["documents"]) == 2


async def test_the_same_file_again_has_parts_that_name_the_first_ones(tools: Tools) -> None:
    document, read = await several(tools)
    first = await call(split_document.HANDLER, tools, invoice=read["invoice_ref"])
    again = await upload(tools.db, blob=await tools.blobs.put(await whole(tools, document)))
    read_again = await call(extract_invoice.HANDLER, tools, document_id=again.document_id)
    second = await call(split_document.HANDLER, tools, invoice=read_again["invoice_ref"])
    parts = [await loaded(tools, document_id) for document_id in second["documents"]]
    assert [part.duplicate_of for part in parts] == first["documents"]


async def whole(tools: Tools, document: Document) -> bytes:
    async with tools.blobs.at_hand(document.sha256) as path:
        return await asyncio.to_thread(path.read_bytes)


async def test_a_document_of_another_tenant_is_not_split(tools: Tools) -> None:
    _, read = await several(tools)
    with pytest.raises(NotStored):
        await call(split_document.HANDLER, tools, tenant_id="globex", invoice=read["invoice_ref"])
