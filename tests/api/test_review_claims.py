import asyncio
import datetime as dt

import pytest

from tests.api.reviewing import Reviewer, reviewer, waiting
from tests.api.service import Service


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


async def expire(service: Service, review_id: str) -> None:
    await service.app.db.execute("UPDATE reviews SET claimed_until = now() WHERE review_id = $1", review_id)


async def test_a_claimed_item_is_ones_own_for_a_while(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    claim = await ann.post(f"/reviews/{item['review_id']}/claim")
    assert (claim["review"]["claimed_by"], claim["token"]) == ("ann", 1)
    left = dt.datetime.fromisoformat(claim["until"]) - dt.datetime.now(dt.UTC)
    assert dt.timedelta(minutes=14) < left < dt.timedelta(minutes=15, seconds=5)
    refused = await ann.named("bob").refused("POST", f"/reviews/{item['review_id']}/claim", 409)
    assert (refused["type"], refused["claimed_by"]) == ("/problems/claimed", "ann")


async def test_an_item_with_an_expired_claim_is_free(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    old = await ann.claim(item["review_id"])
    await expire(service, item["review_id"])
    assert await ann.named("bob").claim(item["review_id"]) == old + 1
    late = await ann.refused("POST", f"/reviews/{item['review_id']}/renew", 409, json={"token": old})
    assert (late["type"], late["claimed_by"]) == ("/problems/claim-lost", "bob")


@pytest.mark.parametrize("act", ["renew", "postpone", "approve", "reject"])
async def test_a_claim_that_is_over_saves_nothing(service: Service, ann: Reviewer, act: str) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item, why="wrong")
    await expire(service, item["review_id"])
    body = {
        "renew": {"token": verdict["token"]},
        "postpone": {"token": verdict["token"], "until": "2099-01-01T00:00:00Z"},
    }
    if act == "postpone":
        body["postpone"]["until"] = (dt.datetime.now(dt.UTC) + dt.timedelta(days=1)).isoformat()
    late = await ann.refused("POST", f"/reviews/{item['review_id']}/{act}", 409, json=body.get(act, verdict))
    assert late["type"] == "/problems/claim-lost"


async def test_claiming_ones_own_again_ends_the_old_token(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    first, second = await ann.claim(item["review_id"]), await ann.claim(item["review_id"])
    assert second == first + 1
    await ann.refused("POST", f"/reviews/{item['review_id']}/renew", 409, json={"token": first})
    assert "until" in await ann.post(f"/reviews/{item['review_id']}/renew", {"token": second})


async def test_next_hands_out_each_item_once_however_many_ask(service: Service, ann: Reviewer) -> None:
    items = {(await waiting(service, ann))["review_id"] for _ in range(12)}
    people = [ann.named(f"person{number}") for number in range(20)]
    answers = await asyncio.gather(*(person.post("/reviews/next") for person in people))
    got = [answer["claim"]["review"]["review_id"] for answer in answers if answer["claim"]]
    assert (len(got), set(got)) == (12, items)


async def test_next_is_the_most_urgent_that_is_free(service: Service, ann: Reviewer) -> None:
    items = [await waiting(service, ann) for _ in range(3)]
    hours = {items[0]["review_id"]: 2, items[1]["review_id"]: 23, items[2]["review_id"]: 12}
    for review_id, used in hours.items():
        await service.app.db.execute(
            """UPDATE reviews SET sla_from = now() - make_interval(hours => $2),
                      due_at = now() + make_interval(hours => 24 - $2) WHERE review_id = $1""",
            review_id,
            used,
        )
    got = [(await ann.post("/reviews/next"))["claim"]["review"] for _ in range(3)]
    assert [hours[each["review_id"]] for each in got] == [23, 12, 2]
    assert [each["band"] for each in got] == [1, 0, 0]
    assert got[0]["parts"]["sla"] == pytest.approx(23 / 24, abs=0.01)
    assert (await ann.post("/reviews/next"))["claim"] is None


async def test_next_heeds_queue_kind_and_group(service: Service, ann: Reviewer) -> None:
    await waiting(service, ann)
    for wish in ({"queue": "payments"}, {"kind": "step"}, {"group": "cashiers"}):
        assert (await ann.post("/reviews/next", wish))["claim"] is None
    assert (await ann.post("/reviews/next", {"queue": "documents", "kind": "document"}))["claim"]


async def test_a_released_item_is_free_again(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    token = await ann.claim(item["review_id"])
    bob = ann.named("bob")
    assert (await bob.refused("POST", f"/reviews/{item['review_id']}/release", 409))["type"] == "/problems/claimed"
    assert (await ann.post(f"/reviews/{item['review_id']}/release", {"token": token}))["claimed_by"] is None
    assert await bob.claim(item["review_id"])


async def test_an_operator_may_release_items_of_others(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await ann.claim(item["review_id"])
    lead = ann.named("lead", "review operate")
    assert (await lead.post(f"/reviews/{item['review_id']}/assign", {"to": "bob"}))["assigned_to"] == "bob"


async def test_an_assigned_item_comes_first_to_its_assignee_and_to_no_one_else(service: Service, ann: Reviewer) -> None:
    first, second = await waiting(service, ann), await waiting(service, ann)
    await service.app.db.execute("UPDATE reviews SET band = 2 WHERE review_id = $1", first["review_id"])
    await ann.post(f"/reviews/{second['review_id']}/assign", {"to": "bob"})
    listed = await ann.get("/reviews", assigned_to="bob")
    assert [item["review_id"] for item in listed["reviews"]] == [second["review_id"]]
    assert (await ann.named("bob").post("/reviews/next"))["claim"]["review"]["review_id"] == second["review_id"]
    assert (await ann.post("/reviews/next"))["claim"]["review"]["review_id"] == first["review_id"]
    assert (await ann.named("eve").post("/reviews/next"))["claim"] is None


async def test_a_postponed_item_lies_until_its_time(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    until = (dt.datetime.now(dt.UTC) + dt.timedelta(hours=3)).isoformat()
    body = {"token": await ann.claim(item["review_id"]), "until": until, "why": "the vendor was asked"}
    assert (await ann.post(f"/reviews/{item['review_id']}/postpone", body))["status"] == "postponed"
    assert (await ann.get("/reviews"))["reviews"] == []
    assert len((await ann.get("/reviews", status="postponed"))["reviews"]) == 1
    assert (await ann.post("/reviews/next"))["claim"] is None
    await service.app.db.execute("UPDATE reviews SET postponed_until = now() WHERE review_id = $1", item["review_id"])
    assert (await ann.post("/reviews/next"))["claim"]["review"]["status"] == "open"


@pytest.mark.parametrize(
    "until",
    [
        "2020-01-01T00:00:00Z",
        "2199-01-01T00:00:00Z",
        "2027-01-01T00:00:00",
        "9999-12-31T23:59:59-12:00",
        "1900000000",
        5,
    ],
)
async def test_a_time_that_cannot_be_is_refused(service: Service, ann: Reviewer, until: str | int) -> None:
    item = await waiting(service, ann)
    body = {"token": await ann.claim(item["review_id"]), "until": until}
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/postpone", 422, json=body)
    assert refused["problems"][0]["path"] == "until"


@pytest.mark.parametrize("due", ["20261201", "5", "soon", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"])
async def test_a_filter_by_a_time_that_cannot_be_is_refused(ann: Reviewer, due: str) -> None:
    refused = await ann.refused("GET", "/reviews", 422, params={"due": due})
    assert refused["problems"][0]["path"] == "query.due"


async def test_the_queue_is_filtered(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await waiting(service, ann)
    await ann.claim(item["review_id"])
    found = {
        "claimed_by": await ann.get("/reviews", claimed_by="ann"),
        "vendor": await ann.get("/reviews", vendor="MUSTER"),
        "other": await ann.get("/reviews", vendor="100%"),
        "band": await ann.get("/reviews", band=2),
        "due": await ann.get("/reviews", due="2020-01-01T00:00:00"),
    }
    assert {name: len(page["reviews"]) for name, page in found.items()} == {
        "claimed_by": 1,
        "vendor": 2,
        "other": 0,
        "band": 0,
        "due": 0,
    }


ACTS = {
    "claim": None,
    "renew": {"token": 1},
    "release": {"token": 1},
    "assign": {"to": "bob"},
    "postpone": {"token": 1, "until": "2027-06-01T00:00:00Z"},
}


@pytest.mark.parametrize("act", ACTS)
async def test_another_tenants_item_is_not_found(service: Service, ann: Reviewer, act: str) -> None:
    item = await waiting(service, ann)
    stranger = reviewer(service)
    for review_id in (item["review_id"], "rev_" + "0" * 26, "rev_1"):
        await stranger.refused("POST", f"/reviews/{review_id}/{act}", 404, json=ACTS[act])
    assert (await stranger.post("/reviews/next"))["claim"] is None
    assert (await ann.get(f"/reviews/{item['review_id']}"))["claimed_by"] is None
