"""Uploads at once are bounded: a tenant that holds many keeps itself out, and no one else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
import pytest

from docrail.api.body_sizes import UPLOADS
from docrail.api.middleware.few_uploads import MOST
from docrail.services.definitions.service import publish_shipped
from tests.security.attacks import FORM_TYPE, form
from tests.security.callers import Guarded, dsn, guarded
from tests.stack import eventually

__all__ = ["dsn", "guarded"]

HOLDERS = ("acme", "globex", "initech")
"""Tenants that together may hold more than all may."""
SOME = form()[: -len(b"\r\n--x--\r\n")] + b"x" * 2**17
"""A form whose file goes on."""


async def begin(guarded: Guarded, key: str, path: str) -> asyncio.StreamWriter:
    """Send a part of an upload, and no more."""
    _, writer = await asyncio.open_connection("127.0.0.1", guarded.service.http.base_url.port)
    kind = f"Content-Type: {FORM_TYPE}"
    head = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        kind,
        f"Content-Length: {2**19}",
        f"Authorization: Bearer {key}",
    ]
    writer.write("\r\n".join([*head, "", ""]).encode() + SOME)
    return writer


@asynccontextmanager
async def held(guarded: Guarded, keys: Sequence[str], path: str) -> AsyncIterator[None]:
    """Hold an upload for each of the keys while the block runs."""
    writers = [await begin(guarded, key, path) for key in keys]
    try:
        yield
    finally:
        for writer in writers:
            writer.close()


async def ask(guarded: Guarded, key: str, path: str) -> httpx.Response:
    """Send a form without a file, which is refused once it has been received."""
    return await guarded.ask(key, "POST", path, files={"place": (None, "a")})


async def is_answered(guarded: Guarded, key: str, path: str, status: int) -> bool:
    return (await ask(guarded, key, path)).status_code == status


def url_of(path: str) -> str:
    return path.format(batch_id="bat_none")


def test_every_kind_of_upload_has_a_bound() -> None:
    assert MOST.keys() == {*UPLOADS.values()}
    assert all(most.of_tenant < most.of_all <= most.of_tenant * len(HOLDERS) for most in MOST.values())


@pytest.mark.parametrize(("path", "setting"), UPLOADS.items())
async def test_a_tenant_with_many_uploads_keeps_out_itself_only(guarded: Guarded, path: str, setting: str) -> None:
    mine, other = await guarded.key(tenant="acme"), await guarded.key(tenant="globex")
    url, most = url_of(path), MOST[setting].of_tenant
    async with held(guarded, [mine] * most, url):
        await eventually(lambda: is_answered(guarded, mine, url, 429), "the uploads to be held")
        refused = await ask(guarded, mine, url)
        assert refused.json()["type"] == "/problems/quota-exceeded"
        assert f"the tenant may have {most} uploads at once" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) >= 1
        assert await is_answered(guarded, other, url, 422)
        assert (await guarded.ask(mine, "GET", "/v1/documents")).status_code == 200
    await eventually(lambda: is_answered(guarded, mine, url, 422), "room after they were given up")


@pytest.mark.parametrize(("path", "setting"), UPLOADS.items())
async def test_all_tenants_together_have_a_bound_too(guarded: Guarded, path: str, setting: str) -> None:
    keys = [await guarded.key(tenant=tenant) for tenant in HOLDERS]
    late, url, most = await guarded.key(tenant="umbrella"), url_of(path), MOST[setting]
    async with held(guarded, [keys[number // most.of_tenant] for number in range(most.of_all)], url):
        await eventually(lambda: is_answered(guarded, late, url, 503), "the uploads to be held")
        refused = await ask(guarded, late, url)
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/busy")
        assert int(refused.headers["retry-after"]) >= 1
    await eventually(lambda: is_answered(guarded, late, url, 422), "room after they were given up")


async def test_as_many_documents_as_a_tenant_may_send_at_once_are_taken(guarded: Guarded) -> None:
    key, most = await guarded.key(tenant="hooli"), MOST["max_upload_bytes"].of_tenant
    await publish_shipped(guarded.service.app, "hooli")
    files = [{"file": (f"{number}.txt", f"document {number}".encode())} for number in range(most)]
    sent = await asyncio.gather(*(guarded.ask(key, "POST", "/v1/documents", files=file) for file in files))
    assert [answer.status_code for answer in sent] == [202] * most
    assert len({answer.json()["document_id"] for answer in sent}) == most
