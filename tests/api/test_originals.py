"""Reviewers see a document's pages and download its bytes; other tenants do not, and no browser runs them."""

import asyncio
import datetime as dt
import io
from pathlib import Path

import httpx
import pytest
from PIL import Image

from docrail.adapters.store.blobs import blob_path
from docrail.services.documents import originals
from docrail.services.documents.repository.page_images import load_image
from docrail.services.documents.service import mark_original_removed
from tests.api.customer import unique
from tests.api.service import Service
from tests.api.test_documents import new_bytes, upload
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.postgres import upload as insert_row
from tests.stack import eventually

SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
}


def two_pages() -> bytes:
    return pdf_bytes(make_pdf([(60, 60, unique("R"))], []))


async def sent(http: httpx.AsyncClient, data: bytes, name: str = "a.pdf") -> tuple[str, str]:
    """Upload a document and return its path and the sha256 of its bytes."""
    document = (await upload(http, data, name=name)).json()
    return f"/v1/documents/{document['document_id']}", document["sha256"]


async def kept_only(service: Service, data: bytes, tenant_id: str = "default") -> tuple[str, str]:
    """Store a document that no run reads, so that no worker draws its pages ahead; return its path and sha256."""
    blob = await service.app.blobs.put(data)
    document = await insert_row(service.app.db, tenant_id=tenant_id, blob=blob)
    return f"/v1/documents/{document.document_id}", blob.sha256


def seen(shown: httpx.Response, part: str = "", instead: str = "") -> dict[str, str]:
    """Return the headers of who has the picture, or claims to have that of another page."""
    return {"If-None-Match": shown.headers["etag"].replace(part, instead)}


async def test_a_page_is_shown(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, two_pages())
    shown = await http.get(f"{path}/pages/2.png")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert SAFE.items() | {("cache-control", "private, no-cache")} <= dict(shown.headers).items()
    assert Image.open(io.BytesIO(shown.content)).size[0] > 1000
    again = await http.get(f"{path}/pages/2.png", headers={"If-None-Match": f'"other", {shown.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", shown.headers["etag"])
    assert (await http.get(f"{path}/pages/1.png")).headers["etag"] != shown.headers["etag"]


async def test_a_page_is_drawn_once_and_not_without_its_bytes(service: Service) -> None:
    path, sha256 = await kept_only(service, two_pages())
    first = await service.http.get(f"{path}/pages/1.png")
    blobs = service.app.blobs.folder
    (kept,) = [info.path for info in blobs.files(f"pages/{blob_path(sha256)}")]
    await asyncio.to_thread(blobs.write, kept, b"kept")
    assert (await service.http.get(f"{path}/pages/1.png")).content == b"kept"
    assert first.content != b"kept"
    assert (await service.http.get(f"{path}/pages/9.png", headers=seen(first, "-1-", "-9-"))).status_code == 404
    await asyncio.to_thread(blobs.delete, blob_path(sha256))
    assert (await service.http.get(f"{path}/pages/1.png")).status_code == 404
    assert (await service.http.get(f"{path}/pages/1.png", headers=seen(first))).status_code == 404
    assert (await service.http.get(f"{path}/pages/2.png")).status_code == 404
    assert (await service.http.get(f"{path}/original")).status_code == 404


@pytest.mark.parametrize(("page", "status"), [("3", 404), ("0", 422), ("1001", 422), ("1e3", 422)])
async def test_there_is_no_other_page(http: httpx.AsyncClient, page: str, status: int) -> None:
    path, _ = await sent(http, two_pages())
    assert (await http.get(f"{path}/pages/{page}.png")).status_code == status


async def test_an_unreadable_document_has_no_pages_and_says_why(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, b"%PDF-1.7 " + new_bytes())
    refused = await http.get(f"{path}/pages/1.png")
    assert (refused.status_code, "damaged" in refused.json()["detail"]) == (409, True)


async def test_an_original_is_downloaded_as_it_was_sent(http: httpx.AsyncClient) -> None:
    data = b"<script>alert(1)</script>" + new_bytes()
    path, _ = await sent(http, data, "Rechnung ü;.html")
    got = await http.get(f"{path}/original")
    assert (got.content, got.headers["content-type"]) == (data, "application/octet-stream")
    assert SAFE.items() | {("cache-control", "no-store")} <= dict(got.headers).items()
    assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''Rechnung%20%C3%BC%3B.html"


async def test_another_tenant_sees_nothing(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, two_pages())
    etag = (await http.get(f"{path}/pages/1.png")).headers["etag"]
    stranger = {"X-Test-Tenant": "globex", "If-None-Match": etag}
    for part in ("pages/1.png", "pages/3.png", "original"):
        assert (await http.get(f"{path}/{part}", headers=stranger)).status_code == 404


async def test_a_removed_original_does_not_come_back_with_what_another_tenant_sends(service: Service) -> None:
    http, data = service.http, two_pages()
    key, other = unique("k"), {"X-Test-Tenant": "globex"}
    first = (await upload(http, data, key=key)).json()
    path, sha256 = f"/v1/documents/{first['document_id']}", first["sha256"]
    shown = await http.get(f"{path}/pages/1.png")
    await mark_original_removed(service.app.db, sha256, dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    theirs = await insert_row(service.app.db, tenant_id="globex", blob=await service.app.blobs.put(data))
    assert (await http.get(f"/v1/documents/{theirs.document_id}/original", headers=other)).content == data
    for part in ("pages/1.png", "pages/2.png", "original"):
        gone = await http.get(f"{path}/{part}", headers=seen(shown))
        removed = f"the original of the document '{first['document_id']}' was deleted on {dt.datetime.now(dt.UTC):%Y-}"
        assert (gone.status_code, gone.json()["detail"][: len(removed)]) == (404, removed)
    assert (await upload(http, data, key=key)).json()["document_id"] == first["document_id"]
    assert (await http.get(f"{path}/original")).content == data


async def test_a_page_is_drawn_once_for_all_who_ask_while_others_wait_no_longer_than_they_can(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, _), (other, _) = [await kept_only(service, two_pages()) for _ in range(2)]
    asked, go = [], asyncio.Event()

    async def slow(path: Path, page: int, *, small: bool) -> bytes:
        asked.append((path.name, page))
        await go.wait()
        return b"drawn"

    monkeypatch.setattr(service.app.reader, "draw", slow)
    monkeypatch.setattr(originals, "TURN_SECONDS", 0.2)
    both = [asyncio.create_task(service.http.get(f"{one}/pages/1.png")) for _ in range(2)]
    await eventually(lambda: len(asked) == 1, "the drawing to begin")
    refused = await service.http.get(f"{other}/pages/1.png")
    assert (refused.status_code, "other pages were being drawn" in refused.json()["detail"]) == (503, True)
    go.set()
    assert ([(await each).content for each in both], len(asked)) == ([b"drawn"] * 2, 1)
    assert (await service.http.get(f"{other}/pages/1.png")).status_code == 200


async def test_a_page_that_cannot_be_drawn_is_not_tried_again_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = await sent(service.http, b"%PDF-1.7 " + new_bytes())
    last, _ = await sent(service.http, two_pages())
    first = [(await service.http.get(page)).json()["detail"] for page in (f"{path}/pages/1.png", f"{last}/pages/3.png")]
    monkeypatch.setattr(service.app.reader, "draw", None)
    again = [await service.http.get(page) for page in (f"{path}/pages/1.png", f"{last}/pages/3.png")]
    assert [(each.status_code, each.json()["detail"]) for each in again] == list(zip((409, 404), first, strict=True))


async def test_no_more_failures_are_remembered_than_there_is_room_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    async def fails(_path: Path, page: int, *, small: bool) -> None:
        tried.append(page)

    path, _ = await sent(service.http, two_pages())
    monkeypatch.setattr(service.app.reader, "draw", fails)
    monkeypatch.setattr(originals, "MOST_REMEMBERED", 2)
    for page in (11, 12, 13, 13, 12, 11):
        assert (await service.http.get(f"{path}/pages/{page}.png")).status_code == 404
    assert tried == [11, 12, 13, 11]


async def test_damaged_bytes_leave_no_picture(service: Service) -> None:
    path, sha256 = await kept_only(service, two_pages())
    blobs = service.app.blobs.folder
    await asyncio.to_thread(blobs.write, blob_path(sha256), two_pages())
    assert (await service.http.get(f"{path}/pages/1.png")).status_code == 503
    assert await load_image(blobs, sha256, 1) is None
