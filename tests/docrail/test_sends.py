"""Where the client's methods send their arguments, which they name alone."""

from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.client import AsyncClient

HERE = "http://127.0.0.1:8000"


class Recorder(httpx.AsyncBaseTransport):
    """Answers every request with an empty object, and keeps the last one."""

    def __init__(self) -> None:
        self.last = httpx.Request("GET", HERE)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.last = request
        return httpx.Response(200, json={})


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def client(recorder: Recorder) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(HERE) as made, httpx.AsyncClient(base_url=HERE, transport=recorder) as http:
        await made.transport.http.aclose()
        made.transport.http = http
        yield made


async def test_other_arguments_are_the_query_without_those_that_are_not_given(
    client: AsyncClient, recorder: Recorder
) -> None:
    await client.list_letters(class_="ValueError", limit=3, status=None)
    assert (recorder.last.method, recorder.last.url.path) == ("GET", "/v1/dead-letters")
    assert dict(recorder.last.url.params) == {"class": "ValueError", "limit": "3"}
    assert recorder.last.content == b""


async def test_the_path_has_ids_and_the_body_is_json(client: AsyncClient, recorder: Recorder) -> None:
    await client.resolve_step("a.b", "../c", {"action": "skip"})
    assert recorder.last.url.raw_path == b"/v1/runs/a.b/steps/..%2Fc/resolve"
    assert recorder.last.content == b'{"action":"skip"}'


async def test_with_a_file_the_others_are_fields_of_a_form(client: AsyncClient, recorder: Recorder) -> None:
    await client.upload_document(("a.txt", b"text"), idempotency_key="4711", inputs={"n": 1}, source="email")
    assert recorder.last.headers["Idempotency-Key"] == "4711"
    parts = [part for part in recorder.last.content.split(b"--") if b"name=" in part]
    assert [part.partition(b'name="')[2].partition(b'"')[0] for part in parts] == [b"source", b"inputs", b"file"]
    assert b'{"n": 1}' in recorder.last.content


async def test_a_missing_argument_is_an_error_before_anything_is_sent(client: AsyncClient, recorder: Recorder) -> None:
    sent = recorder.last
    with pytest.raises(TypeError, match="missing a required argument: 'run_id'"):
        await client.show_run()  # type: ignore[call-arg]
    assert recorder.last is sent
