"""Four eyes, claims, assignees and the audit go by authenticated names: by keys, whatever a request says of itself."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from tests.api.reviewing import reading, reviewer, waiting
from tests.api.service import serve, settings_for
from tests.security.callers import Guarded, dsn
from tests.stack import Servers

__all__ = ["dsn"]


@pytest.fixture
async def office(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[tuple[Guarded, Json]]:
    """Yield a guarded API in which every document needs two approvals, and one that waits for them."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    async with serve(settings.model_copy(update={"access": "keys", "four_eyes_above": 1})) as service:
        item = await waiting(service, reviewer(service, "default"), reading())
        service.guard()
        yield Guarded(service), item


async def approve(guarded: Guarded, item: Json, key: str) -> httpx.Response:
    """Claim the item, approve it, and release it, with the header that once gave a name."""
    named = {"Authorization": f"Bearer {key}", "X-Docrail-As": "someone else"}
    http, path = guarded.service.http, f"/v1/reviews/{item['review_id']}"
    claim = await http.post(f"{path}/claim", headers=named)
    if claim.status_code != 200:
        return claim
    fields = await http.get(f"/v1/documents/{item['document_id']}/fields", headers=named)
    body = {"token": claim.json()["token"], "digest": fields.json()["digest"]}
    done = await http.post(f"{path}/approve", json=body, headers=named)
    await http.post(f"{path}/release", json={"token": body["token"]}, headers=named)
    return done


async def test_two_people_with_keys_of_their_own_approve(office: tuple[Guarded, Json]) -> None:
    guarded, item = office
    ann, bob = [await guarded.key(Scope.READ, Scope.REVIEW, name=name) for name in ("ann", "bob")]
    first = await approve(guarded, item, ann)
    assert first.json()["needs_second"]
    second = await approve(guarded, item, bob)
    assert (second.status_code, second.json()["needs_second"]) == (200, [])
    shown = (await guarded.ask(ann, "GET", f"/v1/reviews/{item['review_id']}")).json()
    assert (shown["status"], shown["decided_by"]) == ("approved", "bob")
    audit = (await guarded.ask(bob, "GET", f"/v1/reviews/{item['review_id']}/audit")).json()["events"]
    assert {event["actor"] for event in audit} == {"ann", "bob"}


@pytest.mark.parametrize("same", ["ann lee", "Ann Lee", "ANN  LEE"])
async def test_a_person_with_two_keys_is_one_person(office: tuple[Guarded, Json], same: str) -> None:
    guarded, item = office
    first, second = await guarded.key(name="ann lee"), await guarded.key(name=same)
    assert (await approve(guarded, item, first)).json()["needs_second"]
    refused = await approve(guarded, item, second)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")


async def made(guarded: Guarded, maker: str, name: str, *scopes: Scope) -> str:
    """Return a key that the holder of another one made over HTTP."""
    wanted = {"name": name, "scopes": [*(scopes or Scope)]}
    answer = await guarded.ask(maker, "POST", "/v1/keys", json=wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["key"])


async def rotated(guarded: Guarded, by: str, key: str) -> str:
    answer = await guarded.ask(by, "POST", f"/v1/keys/{key.split('_')[1]}/rotate", json={"overlap_hours": 0})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["key"])


async def refuse_second(guarded: Guarded, item: Json, first: str, second: str) -> None:
    """Approve with two keys that one person knows: that is one pair of eyes."""
    assert (await approve(guarded, item, first)).json()["needs_second"]
    refused = await approve(guarded, item, second)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide"), refused.text


@pytest.mark.parametrize("turn", [1, -1])
async def test_an_admin_and_a_key_that_they_made_are_one_person(office: tuple[Guarded, Json], turn: int) -> None:
    guarded, item = office
    ann = await guarded.key(name="ann")
    bob = await made(guarded, ann, "bob", Scope.READ, Scope.REVIEW)
    await refuse_second(guarded, item, *(ann, bob)[::turn])


async def test_two_keys_that_one_admin_made_are_one_person_also_through_a_third(office: tuple[Guarded, Json]) -> None:
    guarded, item = office
    ann = await guarded.key(name="ann")
    bob = await made(guarded, ann, "bob")
    carl = await made(guarded, bob, "carl")
    assert (await guarded.ask(carl, "GET", "/v1/keys")).json()["keys"][0]["known_to"] == "ann"
    await refuse_second(guarded, item, bob, carl)


async def test_whoever_rotates_a_key_knows_it_from_then_on(office: tuple[Guarded, Json]) -> None:
    guarded, item = office
    ann, bob = await guarded.key(name="ann"), await guarded.key(name="bob")
    await refuse_second(guarded, item, ann, await rotated(guarded, ann, bob))


async def test_a_session_of_a_key_is_as_its_key(office: tuple[Guarded, Json]) -> None:
    guarded, item = office
    ann = await guarded.key(name="ann")
    signed = await guarded.service.http.post("/v1/session", json={"key": await made(guarded, ann, "bob")})
    assert signed.status_code == 201
    http, path = guarded.service.http, f"/v1/reviews/{item['review_id']}"
    home = {"Sec-Fetch-Site": "same-origin"}
    claim = await http.post(f"{path}/claim", headers=home)
    digest = (await http.get(f"/v1/documents/{item['document_id']}/fields")).json()["digest"]
    first = await http.post(f"{path}/approve", json={"token": claim.json()["token"], "digest": digest}, headers=home)
    assert first.json()["needs_second"]
    http.cookies.clear()
    assert (await approve(guarded, item, ann)).status_code == 403


async def test_people_whose_keys_were_made_on_the_servers_machine_are_two(office: tuple[Guarded, Json]) -> None:
    """Also if one of them has rotated their own key over HTTP."""
    guarded, item = office
    ann, bob = await guarded.key(name="ann"), await guarded.key(name="bob")
    own = await rotated(guarded, bob, bob)
    assert (await approve(guarded, item, ann)).json()["needs_second"]
    assert (await approve(guarded, item, own)).json()["needs_second"] == []


async def test_an_item_is_found_by_its_persons_name_however_it_is_written(office: tuple[Guarded, Json]) -> None:
    guarded, item = office
    bob, path = await guarded.key(name="Bob"), f"/v1/reviews/{item['review_id']}"
    assigned = await guarded.ask(bob, "POST", f"{path}/assign", json={"to": "BOB "})
    assert assigned.json()["assigned_to"] == "bob"
    await guarded.ask(bob, "POST", f"{path}/claim")
    for query in ({"assigned_to": "Bob"}, {"claimed_by": "bOB"}):
        found = (await guarded.ask(bob, "GET", "/v1/reviews", params=query)).json()["reviews"]
        assert item["review_id"] in [each["review_id"] for each in found]


async def test_the_caller_of_a_run_is_the_holder_of_the_key(office: tuple[Guarded, Json]) -> None:
    guarded, _ = office
    ann = await guarded.key(name="ann")
    definition = {"id": "asks", "steps": [{"id": "nap", "handler": "sleep", "config": {"seconds": 60}}]}
    started = await guarded.ask(ann, "POST", "/v1/runs", json={"definition": definition})
    published = await guarded.ask(ann, "GET", "/v1/definitions/asks/moves")
    assert started.status_code == 202
    assert [move["moved_by"] for move in published.json()["moves"]] == ["ann"]
