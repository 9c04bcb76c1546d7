"""Callers of an API without keys are anonymous, or, if names are trusted, have the name that they give."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from docrail.api.auth import current_principal
from docrail.dag.values.json_values import Json
from tests.api.reviewing import reading, reviewer, waiting
from tests.api.service import Service, serve, settings_for
from tests.stack import Servers


@pytest.fixture
async def alone(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    """Yield a developer's API, in which every document needs two approvals."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    async with serve(settings.model_copy(update={"trust_names": True, "four_eyes_above": 1})) as service:
        yield service


async def act(service: Service, name: str | None, item: Json, act: str) -> httpx.Response:
    """Claim the item and act on it as `name`."""
    service.api.dependency_overrides.pop(current_principal, None)
    headers = {"X-Docrail-As": name} if name else {}
    path = f"/v1/reviews/{item['review_id']}"
    claim = await service.http.post(f"{path}/claim", headers=headers)
    if claim.status_code != 200:
        return claim
    fields = await service.http.get(f"/v1/documents/{item['document_id']}/fields", headers=headers)
    body = {"token": claim.json()["token"], "digest": fields.json()["digest"]}
    done = await service.http.post(f"{path}/{act}", json=body, headers=headers)
    await service.http.post(f"{path}/release", json={"token": body["token"]}, headers=headers)
    return done


async def test_one_developer_can_be_two_people(alone: Service) -> None:
    item = await waiting(alone, reviewer(alone, "default"), reading())
    first = await act(alone, "ann", item, "approve")
    assert first.json()["needs_second"]
    assert (await act(alone, "ann", item, "approve")).status_code == 403
    second = await act(alone, "bob", item, "approve")
    assert (second.status_code, second.json()["needs_second"]) == (200, [])
    shown = await alone.http.get(f"/v1/reviews/{item['review_id']}")
    assert (shown.json()["status"], shown.json()["decided_by"]) == ("approved", "bob")


@pytest.mark.parametrize("same", ["Ann Lee", "ANN  LEE", "ann lee"])
async def test_one_person_is_not_two_by_writing_their_name_another_way(alone: Service, same: str) -> None:
    item = await waiting(alone, reviewer(alone, "default"), reading())
    assert (await act(alone, "ann lee", item, "approve")).json()["needs_second"]
    refused = await act(alone, same, item, "approve")
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/may-not-decide")


async def test_an_item_is_found_by_its_persons_name_however_it_is_written(alone: Service) -> None:
    item = await waiting(alone, reviewer(alone, "default"), reading())
    alone.api.dependency_overrides.clear()
    path, bob = f"/v1/reviews/{item['review_id']}", {"X-Docrail-As": "Bob"}
    assigned = await alone.http.post(f"{path}/assign", json={"to": "BOB "}, headers=bob)
    assert assigned.json()["assigned_to"] == "bob"
    for query in ({"assigned_to": "Bob"}, {"claimed_by": "bOB"}):
        await alone.http.post(f"{path}/claim", headers=bob)
        found = (await alone.http.get("/v1/reviews", params=query)).json()["reviews"]
        assert item["review_id"] in [each["review_id"] for each in found]


async def test_a_request_without_a_name_is_refused_with_how_to_give_one(alone: Service) -> None:
    item = await waiting(alone, reviewer(alone, "default"), reading())
    assert (await act(alone, None, item, "approve")).status_code == 200
    refused = await act(alone, None, item, "approve")
    assert refused.status_code == 403
    assert "set DOCRAIL_AS=NAME to name yourself to an API of `docrail up`" in refused.json()["detail"]


@pytest.mark.parametrize("name", ["docrail", "DocRail", "straight-through", "SLA-watch", "a\tb", "-", "x" * 65])
async def test_an_invalid_name_is_refused(alone: Service, name: str) -> None:
    alone.api.dependency_overrides.clear()
    refused = await alone.http.get("/v1/reviews", headers={"X-Docrail-As": name})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["path"] == "header.X-Docrail-As"


async def test_names_are_refused_where_they_are_not_trusted(alone: Service) -> None:
    alone.api.dependency_overrides.clear()
    alone.api.state.trust_names = False
    refused = await alone.http.get("/v1/reviews", headers={"X-Docrail-As": "ann"})
    assert refused.status_code == 422
    assert "is accepted only if DOCRAIL_TRUST_NAMES is set" in refused.json()["detail"]
    assert (await alone.http.get("/v1/reviews")).status_code == 200
