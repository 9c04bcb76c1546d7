"""The tools of handlers outside the tree, with a real database, store, reader and server on loopback."""

import dataclasses
from pathlib import Path

import pytest
from pydantic import BaseModel

from docrail.activities.handler_tools import HandlerTools
from docrail.adapters.http.addresses import AllowedHosts, RefusedAddressError
from docrail.adapters.http.client import HttpClient
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.adapters.secrets import SecretStore
from docrail.handlers import RetryLaterError, StepCall
from docrail.invoices.document_text import text_pages
from docrail.invoices.page_text import PageText
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.ocr import read as ocr
from docrail.services.documents.models import Document
from docrail.services.tools import Outside, Tools
from tests.activities.asking import SAMPLE, pdf
from tests.activities.ubl import ubl_invoice
from tests.loopback import Reply, loopback, reply_json
from tests.postgres import OTHER_TENANT, TENANT, upload

PICTURE = SAMPLE.parent / "i2d_amazonwebservices.png"


class Config(BaseModel, extra="allow"):
    """Any fields."""


def call(*secrets: str, tenant_id: str = TENANT) -> StepCall[Config]:
    return StepCall(tenant_id, "run", "step", 1, Config(), secrets=secrets)


async def stored(tools: Tools, data: bytes) -> Document:
    return await upload(tools.db, blob=await tools.blobs.put(data))


async def test_a_document_is_found_and_read_as_it_was_uploaded(keyless: Tools) -> None:
    data = pdf()
    document, documents = await stored(keyless, data), HandlerTools(keyless).documents
    found = await documents.find(call(), document.document_id)
    assert (found.sha256, found.size_bytes, found.file_name) == (document.sha256, len(data), document.file_name)
    assert await documents.read(call(), document.document_id) == data


async def test_its_pages_are_those_that_the_readers_see(keyless: Tools) -> None:
    data = pdf()
    document, documents = await stored(keyless, data), HandlerTools(keyless).documents
    pages = await documents.pages(call(), document.document_id)
    assert pages == text_pages(data, max_pages=50)
    assert "717,97" in await documents.text(call(), document.document_id)
    image = await documents.image(call(), document.document_id, 1)
    assert image is not None
    assert image.startswith(b"\x89PNG")
    assert await documents.image(call(), document.document_id, 99) is None


async def test_an_xml_file_is_one_page(keyless: Tools) -> None:
    document = await stored(keyless, ubl_invoice("R-77"))
    [page] = await HandlerTools(keyless).documents.pages(call(), document.document_id)
    assert (page.number, "<cbc:ID>R-77</cbc:ID>" in page.text) == (1, True)


@pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`")
async def test_a_picture_is_read_by_ocr(keyless: Tools) -> None:
    document = await stored(keyless, PICTURE.read_bytes())
    assert "Amazon" in await HandlerTools(keyless).documents.text(call(), document.document_id)


async def test_several_pages_have_a_form_feed_between_them(keyless: Tools) -> None:
    document = await stored(keyless, (SAMPLE.parent / "smartap_multipage_02.pdf").read_bytes())
    documents = HandlerTools(keyless).documents
    pages = await documents.pages(call(), document.document_id)
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert len(pages) > 1
    assert (await documents.text(call(), document.document_id)).split("\f") == [page.text for page in pages]


@pytest.mark.parametrize("method", ["find", "read", "pages", "text"])
async def test_a_document_of_another_tenant_is_as_missing_as_none(keyless: Tools, method: str) -> None:
    document = await stored(keyless, pdf())
    ask = getattr(HandlerTools(keyless).documents, method)
    for document_id in (document.document_id, "doc_of_no_one"):
        with pytest.raises(ValueError, match=f"'{OTHER_TENANT}' has no document '{document_id}'"):
            await ask(call(tenant_id=OTHER_TENANT), document_id)


async def test_a_document_that_was_deleted_for_its_age_is_missing(keyless: Tools) -> None:
    document = await stored(keyless, pdf())
    await keyless.db.execute(
        "UPDATE documents SET original_removed_at = now() WHERE document_id = $1", document.document_id
    )
    with pytest.raises(ValueError, match="has no original of the document"):
        await HandlerTools(keyless).documents.read(call(), document.document_id)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (ReadingLimits(max_bytes=1000), Unreadable.TOO_LARGE),
        (ReadingLimits(max_pages=0), Unreadable.TOO_MANY_PAGES),
        (ReadingLimits(wall_seconds=0.001), Unreadable.TIMED_OUT),
    ],
)
async def test_documents_are_opened_within_the_readers_limits(
    keyless: Tools, limits: ReadingLimits, code: Unreadable
) -> None:
    document, limited = await stored(keyless, pdf()), DocumentReader(limits=limits)
    documents = HandlerTools(dataclasses.replace(keyless, reader=limited)).documents
    with pytest.raises(UnreadableDocument) as refused:
        await documents.pages(call(), document.document_id)
    assert refused.value.code is code
    await limited.close()


async def test_a_file_that_is_no_document_says_why(keyless: Tools) -> None:
    document = await stored(keyless, b"%PDF-1.7 and nothing else")
    with pytest.raises(UnreadableDocument) as refused:
        await HandlerTools(keyless).documents.text(call(), document.document_id)
    assert refused.value.code is Unreadable.DAMAGED


def test_a_page_is_equal_to_another_by_what_it_says() -> None:
    assert PageText(1, 1.0, 2.0, "a") == PageText(1, 1.0, 2.0, "a")


def reaching(tools: Tools, secrets: Path) -> HandlerTools:
    """Return tools that may call 127.0.0.1 and have the tenant's secret `erp`."""
    (secrets / TENANT).mkdir()
    (secrets / TENANT / "erp").write_text("s3cret-key")
    (secrets / TENANT / "erp.hosts").write_text("127.0.0.1")
    outside = Outside(HttpClient(AllowedHosts.parse(["127.0.0.1"])), SecretStore(secrets))
    return HandlerTools(dataclasses.replace(tools, outside=outside))


async def test_a_service_is_called_with_the_secrets_that_the_config_names(keyless: Tools, tmp_path: Path) -> None:
    tools = reaching(keyless, tmp_path)
    async with loopback(reply_json({"echo": "Bearer s3cret-key"})) as server:
        headers = {"Authorization": "Bearer secret://erp"}
        answer = await tools.http.request(call("erp"), "POST", server.url, body={"a": "ü"}, headers=headers)
    [asked] = server.asked
    assert (asked.method, asked.json()) == ("POST", {"a": "ü"})
    assert asked.headers["authorization"] == "Bearer s3cret-key"
    assert asked.headers["idempotency-key"] == call().identity[:32]
    assert (answer.status, answer.text()) == (200, '{"echo": "Bearer [secret]"}')


async def test_a_secret_that_the_config_does_not_name_is_refused(keyless: Tools, tmp_path: Path) -> None:
    tools = reaching(keyless, tmp_path)
    with pytest.raises(ValueError, match="does not name it"):
        await tools.http.request(call(), "GET", "http://127.0.0.1", headers={"Authorization": "secret://erp"})
    with pytest.raises(ValueError, match="does not name it"):
        await tools.secrets.load(call(), "erp")
    assert await tools.secrets.load(call("erp"), "erp") == "s3cret-key"


@pytest.mark.parametrize(("status", "error"), [(503, RetryLaterError), (404, ValueError)])
async def test_another_status_decides_about_retries(
    keyless: Tools, tmp_path: Path, status: int, error: type[Exception]
) -> None:
    tools = reaching(keyless, tmp_path)
    async with loopback(Reply(status, headers={"Retry-After": "7"})) as server:
        with pytest.raises(error) as failed:
            await tools.http.request(call(), "GET", server.url)
        expected = await tools.http.request(call(), "GET", server.url, expected_statuses=[status])
    assert getattr(failed.value, "retry_after_seconds", 7) == 7
    assert expected.status == status


async def test_an_answer_that_is_too_long_is_refused(keyless: Tools, tmp_path: Path) -> None:
    tools = reaching(keyless, tmp_path)
    async with loopback(Reply(body=b"12345")) as server:
        assert (await tools.http.request(call(), "GET", server.url, max_bytes=5)).body == b"12345"
        with pytest.raises(ValueError, match="more than 4 bytes"):
            await tools.http.request(call(), "GET", server.url, max_bytes=4)


async def test_a_private_address_is_refused(keyless: Tools) -> None:
    with pytest.raises(RefusedAddressError, match=r"127\.0\.0\.1"):
        await HandlerTools(keyless).http.request(call(), "GET", "http://127.0.0.1:1")


async def test_each_message_to_people_has_an_id_of_its_own(keyless: Tools, tmp_path: Path) -> None:
    async with loopback(Reply(204)) as server:
        allowed = HttpClient(AllowedHosts.parse(["127.0.0.1"]))
        outside = Outside(allowed, SecretStore(tmp_path), notify_url=server.url)
        tools = HandlerTools(dataclasses.replace(keyless, outside=outside))
        for message in ("one", "two", "two"):
            await tools.notify(call(), message, level="warning")
    ids = [asked.headers["webhook-id"] for asked in server.asked]
    assert ids[0] != ids[1] == ids[2]
    assert [asked.json()["text"] for asked in server.asked] == [f"[warning] {each}" for each in ("one", "two", "two")]
