"""`human.assignees`: items are listed by group, and the submitter of a run does not decide it."""

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Method, Principal, Scope
from docrail.services.access.service import create_key
from docrail.services.documents.repository.documents import insert_document
from docrail.services.intake.service import start_waiting_documents
from tests.api.customer import open_item, start, unique
from tests.api.service import Service
from tests.api.test_reviews import ask, decide
from tests.postgres import new_document_id

ANN, BOB = {"X-Test-Name": "ann"}, {"X-Test-Name": "bob"}
OTHERS_ONLY = {"not_the_submitter": True}


async def groups_item(service: Service, group: str) -> list[str]:
    listed = (await service.http.get("/v1/reviews", params={"group": group})).json()["reviews"]
    return [item["review_id"] for item in listed]


async def test_an_item_carries_its_group_and_is_listed_by_it(service: Service) -> None:
    item = await ask(service, assignees={"group": "cashiers"})
    assert (item["group"], item["may_not_decide"]) == ("cashiers", [])
    assert await groups_item(service, "cashiers") == [item["review_id"]]
    assert await groups_item(service, "managers") == []
    plain = await ask(service)
    assert (plain["group"], plain["may_not_decide"]) == (None, [])


async def test_the_submitter_of_a_run_does_not_decide_it(service: Service) -> None:
    item = await ask(service, assignees=OTHERS_ONLY)
    assert item["may_not_decide"] == ["tester"]
    refused = await decide(service, item, {"approved": True})
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")
    assert refused.json()["detail"] == "tester started the run, and the step accepts only another person's decision"
    by_the_run = await service.http.post(f"/v1/runs/{item['run_id']}/waits/approval", json={"answer": {"approved": 1}})
    assert (by_the_run.status_code, by_the_run.json()["type"]) == (403, "/problems/may-not-decide")
    assert (await decide(service, item, {"approved": False}, **BOB)).status_code == 200
    ended = await service.ended(item["run_id"])
    assert (ended["outputs"], ended["steps"]["approval"]["answered_by"]) == ({"approved": False}, "bob")


async def test_a_key_that_the_submitter_knows_does_not_decide_the_run_either(service: Service) -> None:
    item = await ask(service, assignees=OTHERS_ONLY)
    known = {**BOB, "X-Test-Known-To": "tester"}
    refused = await decide(service, item, {"approved": True}, **known)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")
    answer = {"answer": {"approved": True}}
    by_the_run = await service.http.post(f"/v1/runs/{item['run_id']}/waits/approval", json=answer, headers=known)
    assert (by_the_run.status_code, by_the_run.json()["type"]) == (403, "/problems/may-not-decide")
    assert (await decide(service, item, {"approved": True}, **{**BOB, "X-Test-Known-To": "it"})).status_code == 200


async def test_whoever_made_the_submitters_key_does_not_decide_the_run(service: Service) -> None:
    eve = Principal("default", "eve", frozenset(Scope), Method.KEY)
    await create_key(service.app.db, eve, "tester", [Scope.SUBMIT])
    item = await ask(service, assignees=OTHERS_ONLY)
    await service.app.db.execute("DELETE FROM api_keys WHERE known_to = 'eve'")  # other tests are the tester, too
    assert item["may_not_decide"] == ["tester", "eve"]
    refused = await decide(service, item, {"approved": True}, **{"X-Test-Name": "eve"})
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")
    assert "eve counts as tester, who started the run" in refused.json()["detail"]
    assert (await decide(service, item, {"approved": True}, **BOB)).status_code == 200


async def test_the_submitter_of_the_outermost_run_does_not_decide_in_a_nested_run(service: Service) -> None:
    asking = {"id": "ask", "human": {"assignees": OTHERS_ONLY}}
    inner = {"id": unique("inner"), "steps": [asking]}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    outer = {"id": unique("outer"), "steps": [{"id": "nested", "workflow": {"id": inner["id"]}}]}
    run_id = await start(service, outer)
    item = await open_item(service, run_id=f"{run_id}~nested")
    assert (await decide(service, item, {})).status_code == 403
    assert (await decide(service, item, {}, **ANN)).status_code == 200
    assert (await service.ended(run_id))["status"] == "completed"


async def test_a_retry_does_not_change_who_started_the_run(service: Service) -> None:
    steps = [
        {"id": "first", "handler": "fail", "config": {"times": 9, "error": "ValueError"}},
        {"id": "ask", "human": {"assignees": OTHERS_ONLY}, "depends_on": ["first"]},
    ]
    run_id = await start(service, {"id": unique("retried"), "steps": steps})
    await service.closed(run_id)
    order: Json = {"steps": {"first": {"output": {"attempts": 1}}}}
    retried = await service.http.post(f"/v1/runs/{run_id}/retry", json=order, headers=BOB)
    assert retried.status_code == 200, retried.text
    item = await open_item(service, run_id=run_id)
    assert item["may_not_decide"] == ["tester"]
    assert (await decide(service, item, {})).status_code == 403
    assert (await decide(service, item, {}, **BOB)).status_code == 200


async def test_whoever_runs_it_again_with_other_inputs_does_not_decide_it_either(service: Service) -> None:
    """Else an operator who may not decide what they have started would change what another person has."""
    asking: Json = {"id": "ask", "human": {"title": "Pay {{ inputs.amount }}?", "assignees": OTHERS_ONLY}}
    inputs: Json = {"amount": {"type": "integer", "required": True}}
    run_id = await start(service, {"id": unique("rerun"), "inputs": inputs, "steps": [asking]}, amount=1)
    assert (await decide(service, await open_item(service, run_id=run_id), {}, **ANN)).status_code == 200
    await service.closed(run_id)
    known = {**BOB, "X-Test-Known-To": "it"}
    again = await service.http.post(f"/v1/runs/{run_id}/retry", json={"inputs": {"amount": 999}}, headers=known)
    assert again.status_code == 200, again.text
    item = await open_item(service, run_id=run_id)
    assert (item["title"], item["may_not_decide"]) == ("Pay 999?", ["tester", "bob", "it"])
    refused = await decide(service, item, {}, **BOB)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")
    assert "bob counts as tester" in refused.json()["detail"]
    assert (await decide(service, item, {})).status_code == 403
    assert (await decide(service, item, {}, **ANN)).status_code == 200


async def test_of_a_document_it_is_who_uploaded_it(service: Service) -> None:
    steps = [{"id": "ask", "human": {"assignees": OTHERS_ONLY}}]
    definition: dict[str, Json] = {"id": unique("documents"), "steps": steps}
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    files = {"file": ("a.txt", b"an invoice of " + definition["id"].encode())}
    sent = await service.http.post("/v1/documents", files=files, data={"definition": definition["id"]}, headers=ANN)
    assert sent.status_code == 202, sent.text
    item = await open_item(service, document_id=sent.json()["document_id"])
    assert item["may_not_decide"] == ["ann"]


async def test_a_document_whose_run_begins_later_still_knows_who_uploaded_it(service: Service) -> None:
    steps = [{"id": "ask", "human": {"assignees": OTHERS_ONLY}}]
    definition: dict[str, Json] = {"id": unique("later"), "steps": steps}
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    cut_short = await insert_document(
        *(service.app.db, "default", new_document_id(), await service.app.blobs.put(b"an invoice")),
        media_type="text/plain",
        file_name="a.txt",
        sla_hours=24,
        definition=definition["id"],
        uploaded_by="ann",
    )
    assert await start_waiting_documents(service.app, older_than_seconds=0) >= 1
    item = await open_item(service, document_id=cut_short.document_id)
    assert item["may_not_decide"] == ["ann"]
