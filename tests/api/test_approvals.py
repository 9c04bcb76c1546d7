"""`human.assignees.approvals` over HTTP: several people make the same decision, and the item shows the progress."""

import asyncio

import pytest

from docrail.dag.values.json_values import Json
from tests.api.customer import open_item
from tests.api.service import Service
from tests.api.test_reviews import ask, decide
from tests.stack import eventually

ANN, BOB, CY = ({"X-Test-Name": name} for name in ("ann", "bob", "cy"))
TWO = {"approvals": 2}
YES, NO = {"approved": True}, {"approved": False}


async def shown(service: Service, item: Json) -> Json:
    return (await service.http.get(f"/v1/reviews/{item['review_id']}")).json()


async def until_decided_by(service: Service, item: Json, *people: str) -> Json:
    """Wait until the item shows who has decided, and return it."""

    async def is_reported() -> bool:
        return tuple(each["by"] for each in (await shown(service, item))["decided_so_far"]) == people

    await eventually(is_reported, f"{', '.join(people)} to be shown")
    return await shown(service, item)


async def test_two_people_decide_and_everybody_sees_who_is_missing(service: Service) -> None:
    item = await ask(service, assignees=TWO)
    assert (item["approvals_needed"], item["approvals_missing"], item["decided_so_far"]) == (2, 2, [])
    first = await decide(service, item, YES, **ANN)
    assert (first.status_code, first.json()["status"], first.json()["approvals_missing"]) == (200, "open", 1)
    again = await decide(service, item, YES, **ANN)
    assert (again.status_code, again.json()["approvals_missing"]) == (200, 1)
    now = await until_decided_by(service, item, "ann")
    assert (now["status"], now["approvals_missing"], now["decided_so_far"][0]["decision"]) == ("open", 1, YES)
    listed = (await service.http.get("/v1/reviews", params={"kind": "step", "limit": "500"})).json()["reviews"]
    [line] = [each for each in listed if each["review_id"] == item["review_id"]]
    assert (line["approvals_missing"], line["decided_so_far"][0]["decision"]) == (1, None)
    explained = (await service.http.get(f"/v1/runs/{item['run_id']}/explain")).json()["steps"]["approval"]
    assert 'ann decided {"approved": true}; 1 more must decide alike' in explained["words"]
    run = (await service.http.get(f"/v1/runs/{item['run_id']}")).json()
    assert run["steps"]["approval"]["approvals_missing"] == 1
    second = await decide(service, item, YES, **BOB)
    assert (second.json()["status"], second.json()["approvals_missing"]) == ("decided", 0)
    ended = await service.ended(item["run_id"])
    assert (ended["outputs"], ended["steps"]["approval"]["answered_by"]) == (YES, "ann, bob")


async def test_a_key_that_another_decider_made_is_no_second_pair_of_eyes(service: Service) -> None:
    """Whichever decides first, and if both decide at once."""
    item = await ask(service, assignees=TWO)
    bobs, cys = ({**each, "X-Test-Known-To": "ann"} for each in (BOB, CY))
    answers = await asyncio.gather(*(decide(service, item, YES, **who) for who in (ANN, bobs, cys)))
    assert [answer.status_code for answer in answers] == [200] * 3
    now = (await service.http.get(f"/v1/runs/{item['run_id']}")).json()["steps"]["approval"]
    assert (now["status"], now["approvals_missing"]) == ("waiting", 1)
    assert (await decide(service, item, YES, **{"X-Test-Name": "dan", "X-Test-Known-To": "it"})).json()[
        "status"
    ] == "decided"
    await service.ended(item["run_id"])


async def test_the_audit_has_each_decision_once_and_the_item_how_it_ended(service: Service) -> None:
    item = await ask(service, assignees=TWO)
    for who, decision in ((ANN, YES), (BOB, NO), (BOB, YES)):
        assert (await decide(service, item, decision, **who)).status_code == 200
    await service.ended(item["run_id"])

    async def is_decided() -> bool:
        return bool((await shown(service, item))["status"] == "decided")

    await eventually(is_decided, "the item to be decided")
    now = await until_decided_by(service, item, "ann", "bob")
    assert (now["decided_by"], now["decision"], now["approvals_missing"]) == ("ann, bob", YES, 0)
    events = (await service.http.get(f"/v1/reviews/{item['review_id']}/audit")).json()["events"]
    # the run may report the end before the API has recorded the decision that caused it
    assert [event["actor"] for event in events if event["act"] == "decided"] == ["ann", "bob", "bob"]
    others = [(event["actor"], event["act"]) for event in events if event["act"] != "decided"]
    assert others == [("docrail", "settled")]
    assert events[0]["detail"]["digest"] == events[2]["detail"]["digest"] != events[1]["detail"]["digest"]


async def test_an_agreement_can_be_repeated_and_a_later_decision_is_late(service: Service) -> None:
    item = await ask(service, assignees=TWO)
    for who in (ANN, BOB):
        await decide(service, item, YES, **who)
    for _ in range(2):  # at once, and after everything is recorded
        for who in (ANN, BOB):
            again = await decide(service, item, YES, **who)
            assert (again.status_code, again.json()["status"]) == (200, "decided")
        for who, decision in ((ANN, NO), (CY, YES)):
            late = await decide(service, item, decision, **who)
            assert (late.status_code, late.json()["type"]) == (409, "/problems/already-decided")
            assert (late.json()["decided_by"], late.json()["decision"]) == ("ann, bob", YES)
        await service.ended(item["run_id"])
        await until_decided_by(service, item, "ann", "bob")


async def test_of_many_at_once_two_decide(service: Service) -> None:
    item = await ask(service, assignees=TWO)
    people = [f"person {number}" for number in range(6)]
    answers = await asyncio.gather(*(decide(service, item, YES, **{"X-Test-Name": name}) for name in people))
    took = {name for name, answer in zip(people, answers, strict=True) if answer.status_code == 200}
    ended = await service.ended(item["run_id"])
    assert took == set(ended["steps"]["approval"]["answered_by"].split(", "))
    assert len(took) == 2
    assert {answer.status_code for answer in answers} == {200, 409}


async def test_the_submitter_does_not_count_and_an_operator_counts_once(service: Service) -> None:
    item = await ask(service, assignees={"not_the_submitter": True, **TWO})
    assert (await decide(service, item, YES)).status_code == 403
    path = f"/v1/runs/{item['run_id']}/waits/approval"
    for _ in range(2):
        assert (await service.http.post(path, json={"answer": YES}, headers=ANN)).status_code == 200
    assert (await until_decided_by(service, item, "ann"))["approvals_missing"] == 1
    await decide(service, item, YES, **BOB)
    assert (await service.ended(item["run_id"]))["steps"]["approval"]["answered_by"] == "ann, bob"


@pytest.mark.parametrize("ends", ["aborted", "failed"])
async def test_too_few_approve_nothing_however_it_ends(service: Service, ends: str) -> None:
    rule: Json = {"escalate_to": "managers", "then": "fail"}
    seconds = 1 if ends == "failed" else 3600
    item = await ask(service, assignees=TWO, timeout_seconds=seconds, on_timeout=rule)
    assert (await decide(service, item, YES, **ANN)).status_code == 200
    if ends == "aborted":
        await service.http.post(f"/v1/runs/{item['run_id']}/abort")
    else:
        assert (await open_item(service, review_id=item["review_id"], queue="managers"))["approvals_missing"] == 1
    assert (await service.ended(item["run_id"]))["status"] == ends

    async def is_closed() -> bool:
        return bool((await shown(service, item))["status"] == "closed")

    await eventually(is_closed, "the item to be closed")
    now = await until_decided_by(service, item, "ann")
    assert (now["status"], now["decision"], now["approvals_missing"]) == ("closed", None, 0)
    assert (await decide(service, item, YES, **BOB)).status_code == 409
