import asyncio
import uuid
from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.api.middleware.body_limit import MOST_UNANNOUNCED
from docrail.dag.values.json_values import Json
from tests.api.invoices import e_invoice
from tests.api.service import Service


async def upload(
    http: httpx.AsyncClient, data: bytes, *, name: str = "invoice.xml", key: str | None = None, **fields: str
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await http.post(
        "/v1/documents", files={"file": (name, data, "application/xml")}, data=fields, headers=headers
    )


def new_bytes() -> bytes:
    return f"no invoice {uuid.uuid4()}".encode()


async def test_an_invoice_goes_through_to_the_review_queue(service: Service) -> None:
    response = await upload(service.http, e_invoice("R-4711"), sla_hours="48")
    assert response.status_code == 202, response.text
    document = response.json()
    assert response.headers["location"] == f"/v1/documents/{document['document_id']}"
    assert document["run_id"] == f"invoice.{document['document_id']}"
    assert (document["media_type"], document["sla_hours"]) == ("application/xml", 48)
    run = await service.ended(document["run_id"])
    assert run["status"] == "completed", run
    assert run["outputs"]["total"] == 119
    assert run["outputs"]["confidence"] > 0
    not_run = {name: step["reason"] for name, step in run["steps"].items() if step["status"] != "completed"}
    assert not_run == dict.fromkeys(("split", "ask_gemini"), "condition_false"), "one invoice, and exact"
    review = await review_of(service.http, document["document_id"])
    assert review["review_id"] == run["outputs"]["review_id"]
    assert review["run_id"] == document["run_id"]


async def test_a_document_that_is_no_invoice_is_accepted_and_its_run_says_why_it_failed(service: Service) -> None:
    response = await upload(service.http, new_bytes(), name="notes.txt")
    assert response.status_code == 202
    run = await service.ended(response.json()["run_id"])
    assert (run["status"], run["steps"]["extract"]["status"]) == ("failed", "failed")
    assert run["steps"]["extract"]["attempts"] == 1
    assert run["steps"]["record_metrics"]["status"] == "completed"
    assert run["steps"]["create_review"]["reason"] == "upstream_failed"


async def test_a_document_is_shown(http: httpx.AsyncClient) -> None:
    document = (await upload(http, new_bytes())).json()
    response = await http.get(f"/v1/documents/{document['document_id']}")
    assert (response.status_code, response.json()) == (200, document)
    assert document["run_started_at"] is not None


async def test_runs_of_a_document_are_listed_by_it(service: Service) -> None:
    document = (await upload(service.http, new_bytes())).json()
    await service.ended(document["run_id"])
    runs = (await service.http.get("/v1/runs", params={"document": document["document_id"]})).json()["runs"]
    assert [(run["run_id"], run["document_id"]) for run in runs] == [(document["run_id"], document["document_id"])]


async def test_the_same_bytes_again_are_a_new_document_that_names_the_first(http: httpx.AsyncClient) -> None:
    data = new_bytes()
    first, second = (await upload(http, data)).json(), (await upload(http, data)).json()
    assert first["document_id"] != second["document_id"]
    assert (first["duplicate_of"], second["duplicate_of"]) == (None, first["document_id"])


async def test_the_same_key_again_is_the_same_document(http: httpx.AsyncClient) -> None:
    data, key = new_bytes(), uuid.uuid4().hex
    responses = await asyncio.gather(*(upload(http, data, key=key) for _ in range(5)))
    assert {response.status_code for response in responses} == {202}
    assert len({response.json()["document_id"] for response in responses}) == 1
    in_the_form = await http.post("/v1/documents", files={"file": ("invoice.xml", data)}, data={"key": key})
    assert in_the_form.json()["document_id"] == responses[0].json()["document_id"]


@pytest.mark.parametrize("other", ["file", "sla_hours"])
async def test_the_same_key_with_another_upload_is_a_conflict(http: httpx.AsyncClient, other: str) -> None:
    data, key = new_bytes(), uuid.uuid4().hex
    await upload(http, data, key=key)
    response = await upload(
        http, new_bytes() if other == "file" else data, key=key, sla_hours="7" if other == "sla_hours" else "24"
    )
    assert (response.status_code, response.json()["differences"]) == (409, [other])


async def test_another_tenants_key_is_another_document(http: httpx.AsyncClient, service: Service) -> None:
    other = {"X-Test-Tenant": "initech", "Idempotency-Key": "shared-key"}
    await http.post("/v1/definitions", headers=other, json={"definition": await shipped_invoice(http)})
    mine = await upload(http, b"mine", key="shared-key")
    theirs = await http.post("/v1/documents", headers=other, files={"file": ("a", b"theirs")})
    assert (mine.status_code, theirs.status_code) == (202, 202)
    assert mine.json()["document_id"] != theirs.json()["document_id"]
    hidden = await http.get(f"/v1/documents/{theirs.json()['document_id']}")
    assert hidden.status_code == 404


async def shipped_invoice(http: httpx.AsyncClient) -> Json:
    return (await http.get("/v1/definitions/invoice")).json()["source"]


async def test_a_tenant_without_the_definition_keeps_nothing(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/documents", headers={"X-Test-Tenant": "empty"}, files={"file": ("a", b"data")})
    assert (response.status_code, response.json()["detail"]) == (404, "there is no definition 'invoice'")


async def test_an_empty_document_is_refused(http: httpx.AsyncClient) -> None:
    response = await upload(http, b"")
    assert (response.status_code, response.json()["detail"]) == (422, "file: is empty")


@pytest.mark.parametrize("size", [2**20 + 1, 2**20 + 2**16, 2**22])
async def test_a_document_above_the_limit_is_refused(http: httpx.AsyncClient, size: int) -> None:
    response = await upload(http, b"x" * size)
    assert (response.status_code, response.json()["limit_bytes"]) == (413, 2**20)
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_document_of_exactly_the_limit_is_accepted(http: httpx.AsyncClient) -> None:
    assert (await upload(http, b"x" * 2**20)).status_code == 202


async def test_a_body_whose_length_is_not_announced_is_read_no_further_than_the_limit(service: Service) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        while sent < 2**26:
            sent += 2**16
            yield b"x" * 2**16

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    # Without a network between, so that nothing is sent before it is asked for.
    async with httpx.AsyncClient(transport=httpx.ASGITransport(service.api), base_url="http://localhost") as http:
        response = await http.post("/v1/documents", content=endless(), headers=headers)
    assert (response.status_code, response.json()["type"]) == (413, "/problems/too-large")
    assert sent <= 2**20 + 2**17 + MOST_UNANNOUNCED


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\invoice 4711.pdf", "invoice 4711.pdf"),
        ("rechnung-größe-№.pdf", "rechnung-größe-№.pdf"),
        ("\u202efdp.exe", "fdp.exe"),
        ("a" * 300 + ".pdf", "a" * 255),
        ("..", ".."),
        ("/", "document"),
    ],
)
async def test_a_file_name_is_kept_as_harmless_text(http: httpx.AsyncClient, name: str, stored: str) -> None:
    assert (await upload(http, new_bytes(), name=name)).json()["file_name"] == stored


async def test_a_media_type_that_is_none_is_not_kept(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/documents", files={"file": ("a", new_bytes(), "<script>")})
    assert response.json()["media_type"] == "application/octet-stream"


@pytest.mark.parametrize("fields", [{"sla_hours": "0"}, {"sla_hours": "soon"}, {"sla_hours": "9000"}, {"key": "a/b"}])
async def test_fields_that_cannot_be_are_refused(http: httpx.AsyncClient, fields: dict[str, str]) -> None:
    response = await upload(http, new_bytes(), **fields)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


async def test_a_form_without_a_file_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/documents", files={"file": (None, "text")})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "file")


async def test_a_body_that_is_no_form_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post(
        "/v1/documents", content=b"garbage", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("document_id", ["doc_" + "0" * 26, "doc_1", "%00", "x" * 300])
async def test_an_unknown_document_is_not_found(http: httpx.AsyncClient, document_id: str) -> None:
    response = await http.get(f"/v1/documents/{document_id}")
    assert (response.status_code, response.json()["type"]) == (404, "/problems/not-found")


async def review_of(http: httpx.AsyncClient, document_id: str) -> Json:
    reviews = (await http.get("/v1/reviews", params={"limit": 500})).json()["reviews"]
    return next(review for review in reviews if review["document_id"] == document_id)


FILED: dict[str, Json] = {
    "id": "filed_under",
    "inputs": {
        "document_id": {"type": "string", "required": True},
        "cost_centre": {"type": "string", "required": True, "pattern": "^[0-9]{4}$"},
        "copies": {"type": "integer", "default": 1},
    },
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs }}"}}],
    "outputs": {"inputs": "{{ steps.say.output.value }}"},
}


@pytest.fixture
async def filed(http: httpx.AsyncClient) -> str:
    """The id of a definition that requires more than a document provides."""
    (await http.post("/v1/definitions", json={"definition": FILED})).raise_for_status()
    return "filed_under"


async def test_an_upload_brings_values_for_the_definitions_inputs(service: Service, filed: str) -> None:
    sent = await upload(service.http, new_bytes(), definition=filed, inputs='{"cost_centre": "4711"}')
    assert sent.status_code == 202, sent.text
    document = sent.json()
    run = await service.ended(document["run_id"])
    wanted = {"document_id": document["document_id"], "cost_centre": "4711", "copies": 1}
    assert run["outputs"] == {"inputs": wanted}
    assert document["inputs"] == {"cost_centre": "4711"}


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        (None, "definition", "requires the input 'cost_centre', which a document does not provide"),
        ("{", "inputs", "is not JSON"),
        ('{"cost_centre": "4711", "cost_centre": "4712"}', "inputs", "has the key 'cost_centre' twice"),
        ('{"cost_centre": NaN}', "inputs", "NaN is not a JSON number"),
        ("[1]", "inputs", "must be a JSON object"),
        ('{"cost_center": "4711", "cost_centre": "4711"}', "inputs.cost_center", "has no such input"),
        ('{"cost_centre": "47"}', "inputs.cost_centre", "expected a text like"),
        ('{"cost_centre": "4711", "copies": "two"}', "inputs.copies", "expected a whole number"),
        ('{"cost_centre": "4711", "document_id": "doc_1"}', "inputs.document_id", "is provided by the document"),
    ],
)
async def test_inputs_that_do_not_fit_the_definition_are_refused_with_their_places(
    http: httpx.AsyncClient, filed: str, inputs: str | None, path: str, words: str
) -> None:
    fields = {} if inputs is None else {"inputs": inputs}
    response = await upload(http, new_bytes(), definition=filed, **fields)
    assert response.status_code == 422, response.text
    [problem] = response.json()["problems"]
    assert problem["path"] == path
    assert words in problem["message"]


async def test_the_same_key_with_other_inputs_is_refused(http: httpx.AsyncClient, filed: str) -> None:
    data, key = new_bytes(), uuid.uuid4().hex
    first = await upload(http, data, key=key, definition=filed, inputs='{"cost_centre": "4711"}')
    again = await upload(http, data, key=key, definition=filed, inputs='{"cost_centre": "4711"}')
    other = await upload(http, data, key=key, definition=filed, inputs='{"cost_centre": "4712"}')
    assert again.json() == first.json()
    assert (other.status_code, other.json()["type"]) == (409, "/problems/key-conflict")
    assert "inputs.cost_centre" in other.text
