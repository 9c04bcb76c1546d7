import asyncio
import datetime as dt

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal, Scope
from docrail.services.errors import InvalidInput
from docrail.services.paging import after_of
from docrail.services.reviews.models import Appearance, Question, ReviewFilter, Sort
from docrail.services.reviews.service import list_reviews
from tests.api.customer import open_item, start, unique
from tests.api.service import Service
from tests.postgres import upload
from tests.review_items import upsert_review

TENANT = "reviewers"
HEADERS = {"X-Test-Tenant": TENANT}


async def test_reviews_are_listed_page_by_page_most_urgent_first(service: Service) -> None:
    db, due = service.app.db, dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
    for priority in (10, 90, 50, 70, 30):
        document = await upload(db, tenant_id=TENANT)
        question = Question(
            f"invoice.{document.document_id}",
            Appearance(priority, {"uncertainty": (100 - priority) / 100}, [], {"total": "1"}),
            due,
        )
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
    by_part = {"sort": "uncertainty", "limit": "2"}
    first = (await service.http.get("/v1/reviews", params=by_part, headers=HEADERS)).json()
    rest = (await service.http.get("/v1/reviews", params=by_part | {"after": first["after"]}, headers=HEADERS)).json()
    assert [each["parts"]["uncertainty"] for each in first["reviews"] + rest["reviews"]] == [0.9, 0.7, 0.5, 0.3]
    for other in ({"sort": "value"}, {"sort": "uncertainty", "queue": "payments"}):
        query = {**other, "after": first["after"]}
        assert (await service.http.get("/v1/reviews", params=query, headers=HEADERS)).status_code == 422


async def test_another_tenant_sees_no_reviews(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1/reviews", headers={"X-Test-Tenant": "globex"})
    assert response.json() == {"reviews": [], "after": None, "unmatched": []}


@pytest.mark.parametrize(
    "query", [{"after": "rev_1"}, {"after": "rev_" + "0" * 26}, {"after": "\x00"}, {"status": "'"}, {"limit": "0"}]
)
async def test_a_page_that_cannot_be_is_refused(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await http.get("/v1/reviews", params=query)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


async def test_a_forged_page_token_is_refused(service: Service) -> None:
    principal = Principal(TENANT, "anna", frozenset(Scope))
    forged = after_of(b'{"as_of": "never"}', f"{TENANT} {Sort.PRIORITY} {ReviewFilter()}")
    with pytest.raises(InvalidInput, match="earlier page"):
        await list_reviews(service.app, principal, ReviewFilter(), after=forged)


FORM = {
    "type": "object",
    "required": ["approved"],
    "properties": {"approved": {"type": "boolean"}, "comment": {"type": "string"}},
    "additionalProperties": False,
}


async def ask(service: Service, **human: Json) -> Json:
    """Start a run that asks a person, and return the open item."""
    fields = {"queue": "payments", "title": "Pay {{ inputs.amount }}?", "form": FORM, **human}
    definition = {
        "id": unique("asks"),
        "inputs": {"amount": {"type": "number", "default": 12}},
        "steps": [{"id": "approval", "human": {"show": {"amount": "{{ inputs.amount }}"}, **fields}}],
        "outputs": {"approved": "{{ approval.approved }}"},
    }
    run_id = await start(service, definition)
    return await open_item(service, run_id=run_id)


async def decide(service: Service, item: Json, decision: Json, **headers: str) -> httpx.Response:
    return await service.http.post(
        f"/v1/reviews/{item['review_id']}/decision", json={"decision": decision}, headers=headers
    )


async def test_a_person_finds_the_question_and_decides_it(service: Service) -> None:
    item = await ask(service, priority=60, timeout_seconds=3600, on_timeout="fail")
    assert (item["kind"], item["queue"], item["title"], item["status"]) == ("step", "payments", "Pay 12?", "open")
    assert (item["show"], item["form"], item["priority"], item["decision"]) == ({"amount": 12}, FORM, 60, None)
    assert item["due_at"]
    decided = await decide(service, item, {"approved": True})
    assert decided.status_code == 200
    assert decided.json() | {"run_status": ""} == {
        "review_id": item["review_id"],
        "run_id": item["run_id"],
        "step_id": "approval",
        "status": "decided",
        "approvals_missing": 0,
        "run_status": "",
    }
    ended = await service.ended(item["run_id"])
    assert (ended["outputs"], ended["steps"]["approval"]["answered_by"]) == ({"approved": True}, "tester")


async def test_the_first_decision_wins_and_a_later_one_is_refused_with_its_author(service: Service) -> None:
    item = await ask(service)
    assert (await decide(service, item, {"approved": False})).status_code == 200
    late = await decide(service, item, {"approved": True})
    assert (late.status_code, late.json()["type"]) == (409, "/problems/already-decided")
    assert (late.json()["decided_by"], late.json()["decision"]) == ("tester", {"approved": False})
    assert (await decide(service, item, {"approved": False})).status_code == 200  # the answer got lost: asked again
    assert (await service.ended(item["run_id"]))["outputs"] == {"approved": False}


async def test_of_many_decisions_at_once_one_counts(service: Service) -> None:
    item = await ask(service)
    decisions = [{"approved": True, "comment": str(number)} for number in range(6)]
    answers = await asyncio.gather(*(decide(service, item, decision) for decision in decisions))
    [winner] = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    late = [answer.json() for number, answer in enumerate(answers) if number != winner]
    assert {each["decision"]["comment"] for each in late} == {str(winner)}


async def test_a_decision_that_does_not_fit_the_form_is_refused_with_all_that_is_wrong(service: Service) -> None:
    item = await ask(service)
    refused = await decide(service, item, {"aproved": True})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    assert [problem["path"] for problem in refused.json()["problems"]] == ["decision.approved", "decision.aproved"]
    assert (await decide(service, item, {"approved": True})).status_code == 200


async def test_a_question_leaves_the_queue_when_its_run_ends(service: Service) -> None:
    item = await ask(service)
    await service.http.post(f"/v1/runs/{item['run_id']}/abort")
    await service.ended(item["run_id"])
    now = (await service.http.get(f"/v1/reviews/{item['review_id']}")).json()
    assert (now["status"], now["decision"], now["decided_by"]) == ("closed", None, None)
    late = await decide(service, item, {"approved": True})
    assert (late.status_code, late.json()["type"], late.json()["state"]) == (409, "/problems/wrong-state", "aborted")


async def test_an_unanswered_question_goes_to_other_people(service: Service) -> None:
    item = await ask(service, timeout_seconds=0.5, on_timeout={"escalate_to": "managers", "then": "abort"})
    handed_on = await open_item(service, review_id=item["review_id"], queue="managers")
    assert handed_on["band"] == 1
    assert (await service.ended(item["run_id"]))["status"] == "aborted"


async def test_queues_and_kinds_are_listed_alone(service: Service) -> None:
    item = await ask(service, queue="only_mine")
    listed = {
        name: (await service.http.get("/v1/reviews", params=query)).json()["reviews"]
        for name, query in {
            "mine": {"queue": "only_mine"},
            "documents": {"queue": "only_mine", "kind": "document"},
            "none": {"queue": "nobodys"},
        }.items()
    }
    assert [found["review_id"] for found in listed["mine"]] == [item["review_id"]]
    assert listed["documents"] == listed["none"] == []


async def test_a_documents_item_is_shown_and_not_decided_here(service: Service) -> None:
    tenant = "readers"
    document = await upload(service.app.db, tenant_id=tenant)
    due = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
    question = Question(f"invoice.{document.document_id}", Appearance(10, {}, [], {"total": "1"}), due)
    stored = await upsert_review(service.app.db, tenant, document.document_id, question)
    headers = {"X-Test-Tenant": tenant}
    shown = (await service.http.get(f"/v1/reviews/{stored.review_id}", headers=headers)).json()
    assert (shown["kind"], shown["document_id"], shown["form"]) == ("document", document.document_id, {})
    refused = await decide(service, shown, {"approved": True}, **headers)
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "review_id")


async def test_another_tenant_neither_sees_nor_decides_a_question(service: Service) -> None:
    item = await ask(service)
    globex = {"X-Test-Tenant": "globex"}
    assert (await service.http.get(f"/v1/reviews/{item['review_id']}", headers=globex)).status_code == 404
    assert (await decide(service, item, {"approved": True}, **globex)).status_code == 404


@pytest.mark.parametrize("review_id", ["rev_1", "rev_" + "0" * 26, "%00"])
async def test_an_item_that_there_is_not_is_not_found(service: Service, review_id: str) -> None:
    assert (await service.http.get(f"/v1/reviews/{review_id}")).status_code == 404
