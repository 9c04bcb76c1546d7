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
