"""The pages of a document are drawn before a person looks, and their words are known with their places."""

import asyncio
import io
import json

import httpx
import pytest
from PIL import Image

from docrail.adapters.store.blobs import blob_path
from docrail.dag.values.json_values import Json
from docrail.invoices.readers.page_image import FEW_PIXELS
from docrail.services.documents.originals import AHEAD_PAGES
from tests.api.customer import unique
from tests.api.service import Service
from tests.api.test_documents import upload
from tests.api.test_originals import kept_only, two_pages
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.test_page_image import holds_all_ink
from tests.stack import eventually


def kept(service: Service, sha256: str) -> list[str]:
    return [info.path.rpartition("/")[2] for info in service.app.blobs.folder.files(f"pages/{blob_path(sha256)}")]


async def test_the_first_pages_of_a_document_that_waits_for_a_person_are_drawn_and_its_words_stored(
    service: Service,
) -> None:
    pages = [[(60, 60, unique("R"))] for _ in range(AHEAD_PAGES + 1)]
    document = (await upload(service.http, pdf_bytes(make_pdf(*pages)))).json()
    wanted = {f"{number}.{size}.2.png" for number in range(1, AHEAD_PAGES + 1) for size in ("full", "small")}

    async def is_drawn() -> bool:
        return wanted <= {*await asyncio.to_thread(kept, service, document["sha256"])}

    await eventually(is_drawn, "the pages to be drawn")
    assert {*kept(service, document["sha256"])} == {*wanted, "all.words.2.json"}
    (last,) = pages[-1]
    words = await service.http.get(f"/v1/documents/{document['document_id']}/pages/{len(pages)}/words")
    assert [word["text"] for word in words.json()["words"]] == [last[2]]


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
async def test_a_word_lies_on_the_picture_however_the_page_lies(service: Service, rotate: int) -> None:
    pdf = make_pdf([(60, 200, "X"), (300, 320, "8")], rotate=rotate)
    pdf.pages[0].MediaBox = [-30, -20, 620, 850]
    pdf.pages[0].CropBox = [20, 30, 570, 800]
    path, sha256 = await kept_only(service, pdf_bytes(pdf))
    words = await of_page(service.http, path)
    image = Image.open(io.BytesIO((await service.http.get(f"{path}/pages/1.png")).content))
    assert sorted(word["text"] for word in words) == ["8", "X"]
    assert [holds_all_ink(image, tuple(word["box"])) for word in words] == [True, True]
    assert "1.words.2.json" in kept(service, sha256)  # no run has read it, so they are read once, now


async def test_words_are_those_that_were_stored_with_the_reading(service: Service) -> None:
    path, sha256 = await kept_only(service, two_pages())
    stored = [[["read", [0, 0, 1, 1]]], []]
    name = f"pages/{blob_path(sha256)}/all.words.2.json"
    await asyncio.to_thread(service.app.blobs.folder.write, name, json.dumps(stored).encode())
    assert await of_page(service.http, path) == [{"text": "read", "box": [0, 0, 1, 1]}]
    assert await of_page(service.http, path, 2) == []
    assert (await service.http.get(f"{path}/pages/3/words")).status_code == 404


async def test_a_small_picture_is_another_one(service: Service) -> None:
    path, _ = await kept_only(service, two_pages())
    full, small = [await service.http.get(f"{path}/pages/1.png", params={"size": size}) for size in ("full", "small")]
    assert full.headers["etag"] != small.headers["etag"]
    image = Image.open(io.BytesIO(small.content))
    assert 0.9 * FEW_PIXELS < image.width * image.height <= FEW_PIXELS
    assert (await service.http.get(f"{path}/pages/1.png", params={"size": "huge"})).status_code == 422


async def test_an_unreadable_document_has_no_words_and_says_why(service: Service) -> None:
    path, _ = await kept_only(service, b"%PDF-1.7 nothing else" + unique("x").encode())
    refused = await service.http.get(f"{path}/pages/1/words")
    assert (refused.status_code, "damaged" in refused.json()["detail"]) == (409, True)


async def test_words_of_another_tenant_are_not_found(service: Service) -> None:
    path, _ = await kept_only(service, two_pages())
    stranger = {"X-Test-Tenant": unique("globex")}
    assert (await service.http.get(f"{path}/pages/1/words", headers=stranger)).status_code == 404


async def test_a_tenant_that_looks_at_many_pages_keeps_another_one_waiting_for_few(service: Service) -> None:
    """Pages are drawn one at a time; on a busy machine some of the many wait too long."""
    most, tenant, drawn = 24, unique("globex"), list[str]()
    many, _ = await kept_only(service, pdf_bytes(make_pdf(*[[(60, 60, unique("R"))]] * most)))
    one, _ = await kept_only(service, two_pages(), tenant)

    async def show(number: int) -> None:
        shown = await service.http.get(f"{many}/pages/{number}.png")
        assert shown.status_code in (200, 503), shown.text
        drawn.extend([shown.headers["etag"]] if shown.is_success else [])

    async with asyncio.TaskGroup() as group:
        for number in range(1, most + 1):
            group.create_task(show(number))
        await eventually(lambda: bool(drawn), "the first page")
        shown = await service.http.get(f"{one}/pages/1.png", headers={"X-Test-Tenant": tenant})
        assert (shown.status_code, len(drawn) < most / 2) == (200, True)


async def of_page(http: httpx.AsyncClient, path: str, number: int = 1) -> Json:
    shown = await http.get(f"{path}/pages/{number}/words")
    assert shown.status_code == 200, shown.text
    return shown.json()["words"]
