"""The public client against a running API: what it sends, what it returns, and how it says what went wrong."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import httpx
import pytest

import docrail
from docrail.api.app import create_app
from docrail.client import AsyncClient, Client
from docrail.settings import Settings
from docrail.transport import ApiError, NoAnswerError
from docs.client_python import FOLDER, LEFT_OUT, client_of, types_of
from tests.api.service import HELLO, Service

pytestmark = pytest.mark.server

FILED = HELLO | {
    "id": "client_filed",
    "inputs": {
        "document_id": {"type": "string", "required": True},
        "cost_centre": {"type": "string", "required": True},
    },
    "outputs": {"centre": "{{ inputs.cost_centre }}"},
}


@pytest.fixture
def address(service: Service) -> str:
    return str(service.http.base_url)


@pytest.fixture
async def client(address: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(address) as opened:
        await opened.submit_definition({"definition": FILED})
        yield opened


async def test_an_upload_is_followed_to_its_end(client: AsyncClient) -> None:
    sent = ("a.txt", uuid.uuid4().bytes)
    document = await client.upload_document(sent, definition="client_filed", inputs={"cost_centre": "4711"})
    assert document["run_id"] is not None
    run = await client.wait_for_run(document["run_id"])
    assert (run["status"], run["outputs"]) == ("completed", {"centre": "4711"})
    assert await client.download_original(document["document_id"]) == sent[1]


async def test_the_same_key_is_the_same_run(client: AsyncClient) -> None:
    key = uuid.uuid4().hex
    first = await client.start_run({"definition": HELLO}, idempotency_key=key)
    again = await client.start_run({"definition": HELLO}, idempotency_key=key)
    assert (first["created"], again["created"]) == (True, False)
    assert first["run_id"] == again["run_id"]


async def test_pages_yields_all_pages_of_a_list(client: AsyncClient) -> None:
    files = [("a.txt", uuid.uuid4().bytes) for _ in range(3)]
    batch = await client.create_batch({"definition": "client_filed", "inputs": {"cost_centre": "1"}})
    for name, data in files:
        await client.upload_to_batch(batch["batch_id"], (name, data), place=uuid.uuid4().hex)
    pages = [page async for page in client.pages(client.list_batch_documents, batch["batch_id"], limit=2)]
    assert [len(page["documents"]) for page in pages] == [2, 1]


async def test_a_refusal_is_an_error_with_the_problem_in_words(client: AsyncClient) -> None:
    with pytest.raises(ApiError, match="there is no run") as caught:
        await client.show_run("hello.none")
    assert (caught.value.kind, caught.value.status) == ("not-found", 404)
    with pytest.raises(ApiError, match="cost_centre: is required") as caught:
        await client.start_run({"definition": "client_filed", "inputs": {"document_id": "doc_1"}})
    assert (caught.value.kind, caught.value.status) == ("invalid-input", 422)


async def test_without_an_api_trying_again_may_help(unused_tcp_port: int) -> None:
    async with AsyncClient(f"http://127.0.0.1:{unused_tcp_port}") as client:
        with pytest.raises(NoAnswerError, match="no answer from the API at"):
            await client.show_me()


ANSWERS = {
    "a redirect": b"HTTP/1.1 307 T\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
    "a redirect with JSON": b"HTTP/1.1 302 F\r\nLocation: %s\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
async def test_another_host_never_gets_the_key(answer: bytes) -> None:
    asked: list[bytes] = []

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.read(4_096))
        writer.close()

    async def hostile(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer % _address(thief).encode())
        await writer.drain()
        writer.close()

    thief, api = [await asyncio.start_server(each, "127.0.0.1", 0) for each in (other, hostile)]
    async with thief, api, AsyncClient(_address(api), "docrail_0123456789abcdef_key") as client:
        with pytest.raises(ApiError, match="is not Docrail's API") as caught:
            await client.show_me()
    assert caught.value.kind == "not-the-api"
    assert asked == []


def _address(server: asyncio.Server) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("id_", ["..", ".", "../keys", "a/../../keys", "a?b", "a#b", "%2e%2e"])
async def test_an_id_leads_to_no_other_route(client: AsyncClient, id_: str) -> None:
    """Ids often come from elsewhere: `..` would cancel another thing, or all of them."""
    sent: list[str] = []

    async def note(request: httpx.Request) -> None:
        sent.append(request.url.raw_path.decode())

    client.transport.http.event_hooks["request"] = [note]
    with pytest.raises(ApiError):
        await client.show_output(id_, id_)
    [path] = sent
    assert path.count("/") == "/v1/runs/RUN/steps/STEP/output".count("/")
    assert (path.startswith("/v1/runs/"), path.endswith("/output"), "?" in path) == (True, True, False)


@pytest.mark.parametrize("address", ["docrail.internal", "ftp://docrail.internal", "http://"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ApiError, match="expected an address such as"):
        Client(address)


async def test_code_without_an_event_loop_calls_the_same_methods(address: str, client: AsyncClient) -> None:
    def work() -> list[str]:
        with Client(address) as blocking:
            started = blocking.start_run({"definition": HELLO})
            run = blocking.wait_for_run(started["run_id"])
            pages = blocking.pages(blocking.list_definitions, limit=1)
            return [run["status"], *(each["definition_id"] for page in pages for each in page["definitions"])]

    status, *definitions = await asyncio.to_thread(work)
    assert status == "completed"
    assert {"hello", "client_filed"} <= {*definitions}


def test_the_clients_files_are_up_to_date() -> None:
    document = create_app(Settings()).openapi()
    for name, text in {"client.py": client_of(document), "client_types.py": types_of(document)}.items():
        assert (FOLDER / name).read_text("utf-8") == text, "write it with: .venv/bin/python -m docs.client_python"


def test_each_route_has_a_method_in_both_clients() -> None:
    operations = [
        operation
        for methods in create_app(Settings()).openapi()["paths"].values()
        for operation in methods.values()
        if not LEFT_OUT & {kind for answer in operation["responses"].values() for kind in answer.get("content", {})}
        and any(status < "300" for status in operation["responses"])
    ]
    assert len(operations) > 100
    for client in (Client, AsyncClient):
        assert [each["operationId"] for each in operations if not hasattr(client, each["operationId"])] == []


def test_the_package_has_the_clients_and_their_errors() -> None:
    assert (docrail.Client, docrail.AsyncClient) == (Client, AsyncClient)
    assert (docrail.ApiError, docrail.NoAnswerError) == (ApiError, NoAnswerError)
