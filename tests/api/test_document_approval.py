"""A run that waits for its document's decision asks once and is answered once, even if a process dies in between."""

import asyncio
import dataclasses
from typing import cast

import pytest
from temporalio.client import Client

from docrail.dag.values.json_values import Json
from docrail.services.reviews import run_answers as review_answers
from docrail.services.reviews.models import Decision, review_id_of
from docrail.services.reviews.repository.decisions import record_decision
from docrail.services.reviews.repository.steps import step_review_id
from docrail.services.reviews.run_answers import answer_waiting_runs
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reviewer
from tests.api.service import Service
from tests.stack import eventually

DEFINITION = "invoice_with_approval"


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service, "default")


async def upload(service: Service, who: Reviewer, definition: str = DEFINITION, vendor: str = "Muster GmbH") -> Json:
    """Upload an invoice that needs approval, and return its item once the run waits for it."""
    files = {"file": ("invoice.xml", e_invoice(unique("A")).replace(b"Muster GmbH", vendor.encode()))}
    headers = who.headers | {"X-Test-Name": "uploader", "X-Test-Scopes": "submit"}
    sent = await service.http.post("/v1/documents", files=files, data={"definition": definition}, headers=headers)
    assert sent.status_code == 202, sent.text
    document_id = sent.json()["document_id"]
    run_id = f"{definition}.{document_id}"
    await eventually(lambda: _is_asked(service, run_id), f"{run_id} to ask")
    return await who.get(f"/reviews/{review_id_of(who.tenant, document_id)}") | {"run": run_id}


async def _is_asked(service: Service, run_id: str, step_id: str = "approval") -> bool:
    row = await service.app.db.fetchrow("SELECT FROM reviews WHERE run_id = $1 AND step_id = $2", run_id, step_id)
    return row is not None


async def _is_closed(service: Service, run_id: str) -> bool:
    return bool((await step_item(service, run_id))["status"] == "decided")


async def _has_left(who: Reviewer, item: Json) -> bool:
    return bool((await who.get(f"/reviews/{item['review_id']}"))["status"] == "closed")


async def step_item(service: Service, run_id: str) -> Json:
    row = await service.app.db.fetchrow("SELECT review_id, status FROM reviews WHERE run_id = $1", run_id)
    assert row
    return dict(row)


async def approve(who: Reviewer, item: Json, act: str = "approve", **more: Json) -> Json:
    return await who.post(f"/reviews/{item['review_id']}/{act}", await who.verdict(item, **more))


async def test_approving_a_document_resumes_its_run(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    listed = (await ann.get("/reviews", limit=500))["reviews"]
    about = [each for each in listed if each["document_id"] == item["document_id"]]
    assert [each["review_id"] for each in about] == [item["review_id"]]  # one question, not two
    outcome = await approve(ann, item)
    assert (outcome["review"]["status"], outcome["runs_answered"]) == ("approved", True)
    ended = await service.ended(item["run"])
    assert (ended["status"], ended["outputs"]["approved_by"]) == ("completed", "ann")
    assert ended["steps"]["file_json"]["status"] == "completed"
    await eventually(lambda: _is_closed(service, item["run"]), "the run's own question to be closed")


async def test_the_corrected_document_is_filed(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    body = {"value": "Muster AG", "token": await ann.claim(item["review_id"])}
    await ann.ask("PUT", f"/documents/{item['document_id']}/fields/vendor_name", json=body)
    await approve(ann, item)
    ended = await service.ended(item["run"])
    path = ended["steps"]["file_json"]["output"]["path"]
    assert "Muster AG" in (service.settings.data_dir / "lake" / path).read_text()


async def test_rejecting_a_document_ends_its_run(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    await approve(ann, item, "reject", why="not ours")
    ended = await service.ended(item["run"])
    assert (ended["status"], ended["reason"]) == ("aborted", "rejected: not ours")


async def test_of_two_who_decide_at_once_the_run_gets_the_one_that_counts(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    verdict = await ann.verdict(item, why="seen")
    paths = [f"/reviews/{item['review_id']}/{act}" for act in ("approve", "reject") * 3]
    answers = await asyncio.gather(*(ann.ask("POST", path, json=verdict) for path in paths))
    [winner] = {answer.json()["review"]["status"] for answer in answers if answer.status_code == 200}
    ended = await service.ended(item["run"])
    assert ended["status"] == {"approved": "completed", "rejected": "aborted"}[winner]


async def test_the_sweep_sends_a_decision_whose_api_died_before_answering_the_run(
    service: Service, ann: Reviewer
) -> None:
    item = await upload(service, ann)
    verdict = await ann.verdict(item)
    app = service.api.state.app
    service.api.state.app = dataclasses.replace(
        app, temporal=cast(Client, Dead())
    )  # dies between the commit and the update
    try:
        outcome = await ann.post(f"/reviews/{item['review_id']}/approve", verdict)
    finally:
        service.api.state.app = app
    assert (outcome["review"]["status"], outcome["runs_answered"]) == ("approved", False)
    await eventually(lambda: _answered(service), "the sweep to answer")
    assert (await service.ended(item["run"]))["outputs"]["approved_by"] == "ann"


async def test_a_run_answered_before_its_api_died_is_not_answered_twice(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    await approve(ann, item)
    await service.ended(item["run"])
    await eventually(lambda: _is_closed(service, item["run"]), "the run's own question to be closed")
    # the worker's word that the question is closed got lost: to the queue, the run still waits
    await service.app.db.execute("UPDATE reviews SET status = 'open' WHERE run_id = $1", item["run"])
    await answer_waiting_runs(service.app, older_than_seconds=0)
    assert (await step_item(service, item["run"]))["status"] in ("open", "closed", "decided")
    report = (await service.http.get(f"/v1/runs/{item['run']}")).json()
    assert (report["status"], report["steps"]["approval"]["answered_by"]) == ("completed", "ann")
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "approved"


async def test_a_decision_before_the_run_asks_is_its_answer(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    row = await service.app.db.fetchrow("SELECT * FROM reviews WHERE run_id = $1", item["run"])
    assert row
    await service.app.db.execute("DELETE FROM reviews WHERE run_id = $1", item["run"])  # not asked yet
    await approve(ann, item)
    columns = ("tenant_id", "review_id", "run_id", "step_id", "run_document_id", "queue", "title", "form", "show")
    rest = ("asked_at", "priority", "parts", "reasons", "summary", "document_review_id")
    names = (*columns, *rest)
    places = ", ".join(f"${number}" for number in range(1, len(names) + 1))
    await service.app.db.execute(
        f"INSERT INTO reviews ({', '.join(names)}) VALUES ({places})",  # names of columns
        *(row[name] for name in names),
    )
    await answer_waiting_runs(service.app, older_than_seconds=0)
    assert (await service.ended(item["run"]))["outputs"]["approved_by"] == "ann"


async def test_a_run_that_is_aborted_takes_its_document_out_of_the_queue(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    operator = ann.named("op", "operate")
    await operator.post(f"/runs/{item['run']}/abort")
    await eventually(lambda: _has_left(ann, item), "the item to leave the queue")
    # No run would ever close it again.
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/reopen", 409, json={"why": "a look"})
    assert (refused["type"], refused["state"]) == ("/problems/wrong-state", "closed")


async def test_the_run_cannot_be_answered_past_its_document(service: Service, ann: Reviewer) -> None:
    item = await upload(service, ann)
    operator = ann.named("op", "operate review")
    body = {"answer": {"approved": True}}
    refused = await operator.refused("POST", f"/runs/{item['run']}/waits/approval", 422, json=body)
    assert item["review_id"] in refused["problems"][0]["message"]
    asked = await step_item(service, item["run"])
    decision = {"decision": {"approved": True}}
    refused = await operator.refused("POST", f"/reviews/{asked['review_id']}/decision", 422, json=decision)
    assert item["review_id"] in refused["problems"][0]["message"]


async def publish(service: Service, *more: Json, nap: float = 0, **human: Json) -> str:
    """Publish a definition that reads a document and has this human step, and return its id."""
    document = "{{ inputs.document_id }}"
    config = {"document_id": document, "sla_hours": 24}
    steps = [
        {"id": "extract", "handler": "extract_invoice", "config": {"document_id": document}},
        {"id": "queue", "handler": "create_review", "depends_on": ["extract"], "config": config},
        {"id": "nap", "handler": "sleep", "depends_on": ["queue"], "config": {"seconds": nap}},
        {"id": "approval", "depends_on": ["nap"], "human": {"queue": "documents", **human}},
        *more,
    ]
    inputs = {"document_id": {"type": "string", "required": True}}
    definition = {"id": unique("approves"), "inputs": inputs, "steps": steps}
    sent = await service.http.post("/v1/definitions", json={"definition": definition})
    assert sent.is_success, sent.text
    return str(definition["id"])


async def test_the_uploader_does_not_approve_the_document_if_the_step_forbids_it(
    service: Service, ann: Reviewer
) -> None:
    definition = await publish(service, assignees={"not_the_submitter": True, "group": "cashiers"})
    item = await upload(service, ann, definition)
    assert (item["group"], item["may_not_decide"]) == ("cashiers", ["uploader"])
    uploader = ann.named("uploader")
    verdict = await uploader.verdict(item)
    refused = await uploader.refused("POST", f"/reviews/{item['review_id']}/approve", 403, json=verdict)
    assert refused["type"] == "/problems/may-not-decide"
    await uploader.post(f"/reviews/{item['review_id']}/release", {"token": verdict["token"]})
    await approve(ann, item)
    assert (await service.ended(item["run"]))["status"] == "completed"


async def test_a_decision_that_the_runs_form_does_not_take_is_refused(service: Service, ann: Reviewer) -> None:
    definition = await publish(service, form={"properties": {"reason": {"maxLength": 20}}})
    item = await upload(service, ann, definition)
    verdict = await ann.verdict(item, why="x" * 21)
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/approve", 422, json=verdict)
    assert "reason" in refused["problems"][0]["message"]
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "open"


async def test_a_decision_that_its_run_refuses_is_given_back(service: Service, ann: Reviewer) -> None:
    """As if the run asked after the decision: then its form is checked."""
    definition = await publish(service, form={"properties": {"reason": {"maxLength": 20}}})
    item = await upload(service, ann, definition)
    await service.app.db.execute(
        "UPDATE reviews SET form = '{}' WHERE run_id = $1 AND step_id = 'approval'", item["run"]
    )
    await approve(ann, item, why="x" * 21)
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "open"
    events = (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]
    assert [(event["actor"], event["act"]) for event in events[-2:]] == [("ann", "approved"), ("docrail", "reopened")]
    assert "reason" in events[-1]["detail"]["why"]


async def test_an_answer_before_the_question_is_refused(service: Service, ann: Reviewer) -> None:
    definition = await publish(service, nap=2)
    files = {"file": ("invoice.xml", e_invoice(unique("A")))}
    sent = await service.http.post("/v1/documents", files=files, data={"definition": definition})
    run_id = f"{definition}.{sent.json()['document_id']}"
    body, operator = {"answer": {"approved": True}}, ann.named("op", "operate")
    refused = await operator.refused("POST", f"/runs/{run_id}/waits/approval", 403, json=body)
    assert refused["type"] == "/problems/may-not-decide"
    await eventually(lambda: _is_asked(service, run_id), f"{run_id} to ask")
    assert (await step_item(service, run_id))["status"] == "open"


async def test_a_rejected_document_is_not_filed_by_a_later_run(service: Service, ann: Reviewer) -> None:
    """As if its `create_review` is repeated after the rejection: the run asks, and gets the decision."""
    definition = await publish(
        service,
        {"id": "again", "handler": "create_review", "depends_on": ["approval"],
         "config": {"document_id": "{{ inputs.document_id }}", "sla_hours": 24}},
        {"id": "filed", "handler": "noop", "depends_on": ["again"], "condition": "not again.needs_person"},
    )  # fmt: skip
    item = await upload(service, ann, definition)
    await approve(ann, item, "reject", why="not ours")
    ended = await service.ended(item["run"])
    assert (ended["steps"]["again"]["output"]["needs_person"], ended["steps"]["filed"]["status"]) == (True, "skipped")
    run_id = await begin_again(service, item["document_id"])
    await eventually(lambda: _is_asked(service, run_id), f"{run_id} to ask")
    await eventually(lambda: _answered(service), "the sweep to answer")
    ended = await service.ended(run_id)
    assert (ended["status"], ended["reason"]) == ("aborted", "rejected: not ours")
    assert ended["steps"]["file_json"]["status"] == "skipped"


async def begin_again(service: Service, document_id: str) -> str:
    """Start another run of the shipped definition about a stored document."""
    order = {"definition": DEFINITION, "inputs": {"document_id": document_id, "sla_hours": 24}}
    response = await service.http.post("/v1/runs", json=order)
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


@pytest.mark.parametrize("who_leaves", ["first", "second", "no one"])
async def test_two_runs_about_a_document_share_its_item(service: Service, ann: Reviewer, who_leaves: str) -> None:
    item = await upload(service, ann)
    runs = {"first": item["run"], "second": await begin_again(service, item["document_id"])}
    await eventually(lambda: _is_asked(service, runs["second"]), "the second run to ask")
    if leaving := runs.pop(who_leaves, None):
        await ann.named("op", "operate").post(f"/runs/{leaving}/abort")
        await eventually(lambda: _is_over(service, leaving), "the question of the aborted run to be closed")
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "open"
    await approve(ann, item)
    for run_id in runs.values():
        ended = await service.ended(run_id)
        assert (ended["status"], ended["outputs"]["approved_by"]) == ("completed", "ann")


async def _is_over(service: Service, run_id: str) -> bool:
    return bool((await step_item(service, run_id))["status"] == "closed")


async def test_a_second_question_of_a_run_is_not_answered_by_the_first_ones_decision(
    service: Service, ann: Reviewer
) -> None:
    second = {"id": "second", "depends_on": ["approval"], "human": {"queue": "documents"}}
    item = await upload(service, ann, await publish(service, second))
    await approve(ann, item)
    await eventually(lambda: _is_asked(service, item["run"], "second"), "the second question")
    await answer_waiting_runs(service.app, older_than_seconds=0)
    await decide_itself(service, ann.named("bob"), item, "second", {"approved": False})


async def decide_itself(service: Service, who: Reviewer, item: Json, step_id: str, decision: Json) -> None:
    """Decide a step whose own item asks about the document, through that item only."""
    operator = who.named("op", "operate")
    await operator.refused("POST", f"/runs/{item['run']}/waits/{step_id}", 403, json={"answer": decision})
    review_id = step_review_id("default", item["run"], step_id)
    assert (await who.get(f"/reviews/{review_id}"))["status"] == "open"
    await who.post(f"/reviews/{review_id}/decision", {"decision": decision})
    ended = await service.ended(item["run"])
    assert (ended["status"], ended["steps"][step_id]["answered_by"]) == ("completed", who.name)

    async def is_closed() -> bool:
        return bool((await who.get(f"/reviews/{review_id}"))["status"] == "decided")

    await eventually(is_closed, "the question to be closed")
    again = await who.post(f"/reviews/{review_id}/decision", {"decision": decision})  # as one whose answer got lost
    assert again["run_status"] == "completed"
    refused = await who.refused("POST", f"/reviews/{review_id}/decision", 409, json={"decision": {"other": 1}})
    assert refused["type"] == "/problems/already-decided"


async def test_a_step_with_a_form_of_its_own_is_decided_by_its_own_item(service: Service, ann: Reviewer) -> None:
    definition = await publish(service, form={"type": "object", "required": ["cost_centre"]})
    item = await upload(service, ann, definition)
    await decide_itself(service, ann, item, "approval", {"cost_centre": "4711"})
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "open"


async def test_a_decision_that_is_being_sent_to_a_run_is_not_reopened(service: Service, ann: Reviewer) -> None:
    item, app = await upload(service, ann), service.api.state.app
    verdict = await ann.verdict(item)
    service.api.state.app = dataclasses.replace(app, temporal=cast(Client, Dead()))
    try:
        await ann.post(f"/reviews/{item['review_id']}/approve", verdict)
        reopening = {"json": {"why": "paid twice"}}
        refused = await ann.refused("POST", f"/reviews/{item['review_id']}/reopen", 409, **reopening)
    finally:
        service.api.state.app = app
    assert "a run is being answered" in refused["state"]
    await eventually(lambda: _answered(service), "the sweep to answer")
    await service.ended(item["run"])
    await eventually(lambda: _is_closed(service, item["run"]), "the run's own question to be closed")
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "paid twice"})


async def test_runs_that_cannot_be_answered_do_not_hold_up_the_sweep(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [await upload(service, ann) for _ in range(2)]
    slow = Dead(seconds=0.2)
    app = dataclasses.replace(service.app, temporal=cast(Client, slow))
    for item in items:
        decision = Decision("approved", {"approved": True, "reason": ""}, "ann", None)
        await record_decision(app.db, "default", item["review_id"], decision)
    monkeypatch.setattr(review_answers, "AT_ONCE", 1)
    monkeypatch.setattr(review_answers, "SWEEP_SECONDS", 0.1)
    for _ in range(2):
        assert await answer_waiting_runs(app, older_than_seconds=0) == 0
    assert len(set(slow.asked)) == len(slow.asked) == 2  # one in each sweep, and never the same first


async def test_many_that_are_approved_at_once_resume_their_runs_and_wait_for_no_worker_one_by_one(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [await upload(service, ann, vendor=unique("Vendor")) for _ in range(3)]
    body = {"items": [{name: item[name] for name in ("review_id", "digest")} for item in items]}
    away = Dead()
    app = service.api.state.app
    monkeypatch.setattr(review_answers, "AT_ONCE", 1)
    service.api.state.app = dataclasses.replace(app, temporal=cast(Client, away))
    try:
        outcomes = (await ann.post("/reviews/approve", body))["items"]
    finally:
        service.api.state.app = app
    assert [outcome["approved"] for outcome in outcomes] == [True] * 3, outcomes
    assert len(away.asked) == 1  # the others are left to the sweep: each would take as long
    await eventually(lambda: _answered(service), "the sweep to answer")
    for item in items:
        assert (await service.ended(item["run"]))["outputs"]["approved_by"] == "ann"


async def _answered(service: Service) -> bool:
    return await answer_waiting_runs(service.app, older_than_seconds=0) > 0


class Dead:
    """An unavailable Temporal, as the client of an API that is about to die sees it."""

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds
        self.asked: list[str] = []

    def get_workflow_handle(self, workflow_id: str, **_: object) -> "Dead":
        self.asked.append(workflow_id)
        return self

    async def execute_update(self, *_: object, **__: object) -> None:
        await asyncio.sleep(self.seconds)  # its slowness is what is tested: a sweep has only so much time
        raise RuntimeError("Failed client connect: it died")
