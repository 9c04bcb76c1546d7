"""Forms: only files may be large, and texts are UTF-8. What they cost is tested in test_large_requests.py."""

from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.api.middleware.forms import MOST_FIELD_BYTES, MOST_FIELDS, MOST_FILES
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.security.attacks import FORM_TYPE, form
from tests.stack import Servers


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("forms"))
        async with serve(settings) as served:
            yield served


async def sent(service: Service, body: bytes, media_type: str = FORM_TYPE) -> httpx.Response:
    return await service.http.post("/v1/documents", content=body, headers={"Content-Type": media_type})


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-16", "undefined", "unicode_escape", "latin-1", "none"])
async def test_a_form_in_another_encoding_is_refused(service: Service, charset: str) -> None:
    refused = await sent(service, form(b"99aaaa", name=b"source"), f'{FORM_TYPE}; Charset="{charset}"')
    assert (refused.status_code, refused.json()["type"]) == (415, "/problems/unsupported-media-type")
    assert charset in refused.json()["detail"]


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8"])
async def test_a_form_in_utf_8_may_say_so(service: Service, charset: str) -> None:
    refused = await sent(service, form("Büro".encode(), name=b"definition"), f"{FORM_TYPE}; charset={charset}")
    assert (refused.status_code, "'Büro'" in refused.json()["detail"]) == (404, True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (form(b"a" * (MOST_FIELD_BYTES + 1)), "Part exceeded maximum size"),
        (form(*[b"a"] * (MOST_FIELDS + 1)), "Too many fields"),
        (form().replace(b"--x--\r\n", b"") * (MOST_FILES + 1) + b"--x--\r\n", "Too many files"),
    ],
    ids=["long", "many", "files"],
)
async def test_a_form_has_few_and_short_fields_and_few_files(service: Service, body: bytes, message: str) -> None:
    refused = await sent(service, body)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    assert message in refused.json()["detail"]
