import datetime as dt

import httpx
import pytest

from storage.reviews import Question, upsert_review
from tests.api.service import Service
from tests.postgres import upload

TENANT = "reviewers"
HEADERS = {"X-Test-Tenant": TENANT}


async def test_reviews_are_listed_page_by_page_most_urgent_first(service: Service) -> None:
    db, due = service.app.db, dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
    for priority in (10, 90, 50, 70, 30):
        document = await upload(db, tenant_id=TENANT)
        question = Question(f"invoice.{document.document_id}", priority, {"uncertainty": 0.5}, [], {"total": "1"}, due)
        await upsert_review(db, TENANT, document.document_id, question)
    priorities: list[float] = []
    after: dict[str, str] = {}
    for expected in (2, 2, 1):
        query = {"limit": "2", **after}
        page = (await service.http.get("/v1/reviews", params=query, headers=HEADERS)).json()
        after = {"after": page["after"]}
        assert len(page["reviews"]) == expected
        priorities += [review["priority"] for review in page["reviews"]]
    assert priorities == [90, 70, 50, 30, 10]
    assert page["after"] is None
    assert page["reviews"][0]["parts"] == {"uncertainty": 0.5}


async def test_another_tenant_sees_no_reviews(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1/reviews", headers={"X-Test-Tenant": "globex"})
    assert response.json() == {"reviews": [], "after": None}


@pytest.mark.parametrize("query", [{"after": "rev_1"}, {"after": "\x00"}, {"status": "'"}, {"limit": "0"}])
async def test_a_page_that_cannot_be_is_refused(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await http.get("/v1/reviews", params=query)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")
