"""Pictures of pages: Gemini reads them where this machine has no OCR; without a key they need one."""

import dataclasses
import io
import secrets
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from docrail.adapters.sandbox.reader import DocumentReader, ReadDocument
from docrail.dag.values.json_values import Json
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.services.tools import Tools
from tests.activities.asking import SAMPLE, ask, extract, invoice_of, reaching, stored
from tests.gemini import gemini


class ReaderWithoutOcr(DocumentReader):
    """What a machine without the extra `ocr` has: this one cannot take it off for a test."""

    async def read_with_words(self, path: Path) -> ReadDocument:
        raise UnreadableDocument(Unreadable.NEEDS_OCR, f"{path.name} is a picture, and no extra `ocr` is installed")


def page() -> Image.Image:
    with closing(pypdfium2.PdfDocument(SAMPLE)) as document:
        drawn: Image.Image = document[0].render(scale=2).to_pil()
        return drawn


def picture(kind: str = "PNG", **options: Json) -> bytes:
    """Return a page as a picture with bytes of its own."""
    made = io.BytesIO()
    page().save(made, kind, **options)
    return made.getvalue() + secrets.token_bytes(8)


@pytest.fixture
async def without_ocr(keyless: Tools) -> AsyncIterator[Tools]:
    reader = ReaderWithoutOcr()
    yield dataclasses.replace(keyless, reader=reader)
    await reader.close()


async def test_gemini_reads_a_picture_that_the_local_readers_cannot(keyless: Tools, without_ocr: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:  # which has an OCR to answer with
        tools = reaching(without_ocr, fake)
        document = await stored(tools, picture())
        first, output = await extract(tools, document), await ask(tools, document)
    assert (first["wants_gemini"], first["total"], first["problems"]) == (True, None, ["needs_ocr"])
    assert (output["reader"], output["total"], "needs_ocr" in output["problems"]) == ("gemini", 717.97, False)
    assert fake.asked[0].parts[0]["inlineData"]["mime_type"] == "image/png"


async def test_an_unread_picture_is_left_to_a_person(without_ocr: Tools) -> None:
    async with gemini("safety") as fake:
        tools = reaching(without_ocr, fake)
        output = await ask(tools, await stored(tools, picture()))
        invoice = await invoice_of(tools, output)
    assert output["problems"] == ["needs_ocr", "gemini_refused"]
    assert (invoice.has_errors(), invoice.total.value) == (True, None)


@pytest.mark.parametrize("kind", ["TIFF", "GIF", "BMP"])
async def test_a_kind_of_picture_that_the_api_does_not_take_is_sent_as_a_pdf(
    kind: str, keyless: Tools, without_ocr: Tools
) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(without_ocr, fake)
        output = await ask(tools, await stored(tools, picture(kind)))
    assert fake.asked[0].parts[0]["inlineData"]["mime_type"] == "application/pdf"
    assert (output["reader"], output["total"]) == ("gemini", 717.97)
    assert not {"needs_ocr", "gemini_refused"} & set(output["problems"])


async def test_every_page_of_a_fax_is_sent(without_ocr: Tools) -> None:
    fax = picture("TIFF", save_all=True, append_images=[page().rotate(90, expand=True)])
    async with gemini("safety") as fake:
        tools = reaching(without_ocr, fake)
        await ask(tools, await stored(tools, fax))
    with closing(pypdfium2.PdfDocument(fake.asked[0].document)) as sent:
        shapes = [each.get_width() < each.get_height() for each in sent]
    assert shapes == [True, False]


async def test_a_picture_of_which_no_pdf_can_be_made_is_not_sent(without_ocr: Tools) -> None:
    async with gemini() as fake:
        tools = reaching(without_ocr, fake)
        output = await ask(tools, await stored(tools, picture("TIFF")[:5000]))
        [problem] = [each for each in (await invoice_of(tools, output)).problems if each.code == "gemini_refused"]
    assert (fake.asked, output["problems"]) == ([], ["needs_ocr", "gemini_refused"])
    assert "which cannot be converted to PDF: The file begins like a picture but is damaged" in problem.message


async def test_without_a_key_it_needs_an_ocr(without_ocr: Tools) -> None:
    document = await stored(without_ocr, picture())
    with pytest.raises(UnreadableDocument, match="no extra `ocr` is installed"):
        await extract(without_ocr, document)
