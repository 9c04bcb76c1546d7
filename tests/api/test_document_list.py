"""GET /v1/documents: pages, filters, and requests that are refused."""

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.inbox import repository
from tests.api.service import Service
from tests.api.test_documents import new_bytes, shipped_invoice

LISTS = {"X-Test-Tenant": "lists"}


@pytest.fixture
async def uploaded(workerless: Service) -> list[str]:
    """Upload three documents, which no worker runs; the latest comes first."""
    http = workerless.http
    await http.post("/v1/definitions", headers=LISTS, json={"definition": await shipped_invoice(http)})
    before = (await pages(http, limit=500))[0]["documents"]
    for number in range(3 - len(before)):
        files = {"file": (f"rechnung {number}.pdf", new_bytes())}
        response = await http.post("/v1/documents", headers=LISTS, files=files)
        assert response.status_code == 202, response.text
    return [document["document_id"] for document in (await pages(http, limit=500))[0]["documents"]]


async def pages(http: httpx.AsyncClient, limit: int, **filters: str) -> list[Json]:
    found: list[Json] = []
    after: dict[str, str] = {}
    while True:
        response = await http.get("/v1/documents", headers=LISTS, params={"limit": limit, **filters, **after})
        assert response.status_code == 200, response.text
        found.append(response.json())
        if found[-1]["after"] is None:
            return found
        after = {"after": found[-1]["after"]}


async def test_the_pages_together_hold_every_document(workerless: Service, uploaded: list[str]) -> None:
    found = await pages(workerless.http, limit=2)
    assert [[document["document_id"] for document in page["documents"]] for page in found] == [
        uploaded[:2],
        uploaded[2:],
    ]


async def test_a_line_shows_the_upload(workerless: Service, uploaded: list[str]) -> None:
    [page] = await pages(workerless.http, limit=500, text="RECHNUNG 2")
    [document] = page["documents"]
    shown = (await workerless.http.get(f"/v1/documents/{uploaded[0]}", headers=LISTS)).json()
    assert {name: document[name] for name in document.keys() & shown.keys()} == {
        name: shown[name] for name in document.keys() & shown.keys()
    }
    assert (document["status"], document["document_type"]) == ("reading", None)


async def test_the_counts_are_those_of_the_list(workerless: Service, uploaded: list[str]) -> None:
    response = await workerless.http.get("/v1/documents/counts", headers=LISTS, params={"text": "rechnung"})
    counted = response.json()
    assert (counted["counts"].pop("reading"), counted["total"]) == (3, 3)
    assert set(counted["counts"].values()) == {0}
    assert uploaded


async def test_the_place_of_a_document_in_a_list_is_shown(workerless: Service, uploaded: list[str]) -> None:
    path = f"/v1/documents/{uploaded[0]}/neighbours"
    found = await workerless.http.get(path, headers=LISTS, params={"text": "rechnung", "sort": "oldest"})
    none = dict.fromkeys(("next", "next_below", "previous", "previous_below"))
    assert found.json() == none | {"place": 1, "total": 0}  # none has a review item yet
    assert (await workerless.http.get(path)).status_code == 404  # another tenant's


async def test_more_documents_than_are_sorted_in_time_are_refused_with_what_to_do(
    workerless: Service, uploaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_SORTED", len(uploaded) - 1)
    neighbours = f"/v1/documents/{uploaded[0]}/neighbours"
    for path, params in (("/v1/documents", {"sort": "total"}), (neighbours, {})):
        refused = await workerless.http.get(path, headers=LISTS, params=params)
        assert refused.status_code == 422
        assert "too many to sort: choose a status, a vendor or dates" in refused.json()["detail"]
        fewer = await workerless.http.get(path, headers=LISTS, params={**params, "status": "approved"})
        assert fewer.status_code == 200
    assert [page["after"] for page in await pages(workerless.http, limit=500)] == [None]


async def test_documents_of_another_tenant_are_not_listed(workerless: Service, uploaded: list[str]) -> None:
    response = await workerless.http.get("/v1/documents", headers={"X-Test-Tenant": "empty"})
    assert response.json() == {"documents": [], "after": None}
    assert uploaded


@pytest.mark.parametrize(
    ("params", "detail"),
    [
        (
            {"status": "done"},
            "query.status: must be 'attention', 'reading', 'failed', 'second', 'postponed', 'approved', 'rejected'",
        ),
        (
            {"document_type": "letter"},
            (
                "query.document_type: must be 'invoice', 'credit_note', 'receipt', 'dunning_letter', "
                "'statement', 'purchase_order', 'quote', 'delivery_note', 'remittance_advice' or 'contract'"
            ),
        ),
        ({"kind": "invoice"}, "kind: this request has no such parameter"),
        (
            {"since": "yesterday"},
            "query.since: is not valid: must be a date and time with its zone",
        ),
        ({"since": "2026-11-02T00:00:00Z", "until": "2026-11-01T00:00:00Z"}, "until: must be later than `since`"),
        ({"vendor": "&"}, "vendor: has no letter and no digit"),
        ({"sort": "size"}, "query.sort: must be 'newest', 'oldest', 'due', 'total' or 'vendor'"),
        ({"limit": "0"}, "query.limit: must be at least 1, found the text '0'"),
        ({"after": "doc_1"}, "after: is not the `after` of an earlier page of this list"),
    ],
)
async def test_a_wrong_filter_is_refused(workerless: Service, params: dict[str, str], detail: str) -> None:
    response = await workerless.http.get("/v1/documents", headers=LISTS, params=params)
    assert response.status_code == 422
    assert response.json()["detail"].startswith(detail)


async def test_the_next_page_of_one_list_is_not_the_next_page_of_another(
    workerless: Service, uploaded: list[str]
) -> None:
    [first, *_] = await pages(workerless.http, limit=2)
    params = {"after": first["after"], "status": "reading"}
    response = await workerless.http.get("/v1/documents", headers=LISTS, params=params)
    assert (response.status_code, len(uploaded)) == (422, 3)
    response = await workerless.http.get(
        "/v1/documents", headers=LISTS, params={"after": first["after"], "sort": "due"}
    )
    assert response.status_code == 422
