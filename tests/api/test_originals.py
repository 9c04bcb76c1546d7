"""Who checks a document's fields sees its pages and gets its bytes; nobody else does, and no browser runs them."""

import asyncio
import io

import httpx
import pytest
from PIL import Image

from storage.blobs import blob_path
from tests.api.customer import unique
from tests.api.service import Service
from tests.api.test_documents import new_bytes, upload
from tests.invoices.documents import make_pdf, pdf_bytes

SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "cache-control": "private, max-age=3600",
}


def two_pages() -> bytes:
    return pdf_bytes(make_pdf([(60, 60, unique("R"))], []))


async def sent(http: httpx.AsyncClient, data: bytes, name: str = "a.pdf") -> tuple[str, str]:
    """Upload a document and return its path and the sha256 of its bytes."""
    document = (await upload(http, data, name=name)).json()
    return f"/v1/documents/{document['document_id']}", document["sha256"]


async def test_a_page_is_shown(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, two_pages())
    shown = await http.get(f"{path}/pages/2.png")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert SAFE.items() <= dict(shown.headers).items()
    assert Image.open(io.BytesIO(shown.content)).size[0] > 1000
    again = await http.get(f"{path}/pages/2.png", headers={"If-None-Match": f'"other", {shown.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", shown.headers["etag"])
    assert (await http.get(f"{path}/pages/1.png")).headers["etag"] != shown.headers["etag"]


async def test_a_page_is_drawn_once_and_not_without_its_bytes(service: Service) -> None:
    path, sha256 = await sent(service.http, two_pages())
    first = await service.http.get(f"{path}/pages/1.png")
    blobs = service.app.blobs.folder
    (kept,) = [info.path for info in blobs.files(f"pages/{blob_path(sha256)}")]
    await asyncio.to_thread(blobs.write, kept, b"kept")
    assert (await service.http.get(f"{path}/pages/1.png")).content == b"kept"
    assert first.content != b"kept"
    await asyncio.to_thread(blobs.delete, blob_path(sha256))
    assert (await service.http.get(f"{path}/pages/2.png")).status_code == 404
    assert (await service.http.get(f"{path}/original")).status_code == 404


@pytest.mark.parametrize(("page", "status"), [("3", 404), ("0", 422), ("51", 422), ("1e3", 422)])
async def test_there_is_no_other_page(http: httpx.AsyncClient, page: str, status: int) -> None:
    path, _ = await sent(http, two_pages())
    assert (await http.get(f"{path}/pages/{page}.png")).status_code == status


async def test_what_cannot_be_opened_has_no_pages_and_says_why(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, b"%PDF-1.7 " + new_bytes())
    refused = await http.get(f"{path}/pages/1.png")
    assert (refused.status_code, "damaged" in refused.json()["detail"]) == (409, True)


async def test_an_original_is_downloaded_as_it_was_sent(http: httpx.AsyncClient) -> None:
    data = b"<script>alert(1)</script>" + new_bytes()
    path, _ = await sent(http, data, "Rechnung ü;.html")
    got = await http.get(f"{path}/original")
    assert (got.content, got.headers["content-type"]) == (data, "application/octet-stream")
    assert SAFE.items() <= dict(got.headers).items()
    assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''Rechnung%20%C3%BC%3B.html"


async def test_another_tenant_sees_nothing(http: httpx.AsyncClient) -> None:
    path, _ = await sent(http, two_pages())
    etag = (await http.get(f"{path}/pages/1.png")).headers["etag"]
    stranger = {"X-Test-Tenant": "globex", "If-None-Match": etag}
    for part in ("pages/1.png", "pages/3.png", "original"):
        assert (await http.get(f"{path}/{part}", headers=stranger)).status_code == 404
