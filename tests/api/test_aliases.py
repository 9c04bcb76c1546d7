"""What new runs get: `stable`, the canary, other aliases; who moved them; how a move is undone."""

import asyncio
import uuid
from collections.abc import Sequence

import httpx
import pytest

from docrail.dag.language.version_refs import in_canary
from docrail.dag.values.json_values import Json
from tests.api.service import HELLO, Service

ABOUT_A_DOCUMENT = {"inputs": {"document_id": {"type": "string"}}}


async def published(http: httpx.AsyncClient, versions: int, **more: Json) -> str:
    """Publish a new definition in so many versions and return its id."""
    definition_id = f"d_{uuid.uuid4().hex}"
    for number in range(1, versions + 1):
        await publish(http, definition_id, str(number), **more)
    return definition_id


async def publish(http: httpx.AsyncClient, definition_id: str, title: str, **more: Json) -> Json:
    takes = {"inputs": more.pop("inputs")} if "inputs" in more else {}
    body = {"definition": {**HELLO, **takes, "id": definition_id, "title": title}, **more}
    response = await http.post("/v1/definitions", json=body)
    assert response.status_code == 201, response.text
    return response.json()


async def aliases(http: httpx.AsyncClient, definition_id: str) -> dict[str, tuple[int, int | None]]:
    response = await http.get(f"/v1/definitions/{definition_id}/aliases")
    assert response.status_code == 200, response.text
    return {name: (named["version"], named["percent"]) for name, named in response.json()["aliases"].items()}


async def put(http: httpx.AsyncClient, definition_id: str, alias: str, **wanted: Json) -> httpx.Response:
    return await http.put(f"/v1/definitions/{definition_id}/aliases/{alias}", json=wanted)


async def roll_back(http: httpx.AsyncClient, definition_id: str, **wanted: Json) -> httpx.Response:
    return await http.post(f"/v1/definitions/{definition_id}/rollback", json=wanted)


async def versions_of_runs(http: httpx.AsyncClient, ref: str, keys: Sequence[str]) -> dict[str, int]:
    answers = [(await http.post("/v1/runs", json={"definition": ref, "key": key})).json() for key in keys]
    return {key: answer["version"] for key, answer in zip(keys, answers, strict=True)}


async def test_publishing_lets_new_runs_get_the_version(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 2)
    assert await aliases(http, definition_id) == {"stable": (2, None)}
    assert await versions_of_runs(http, definition_id, ["a"]) == {"a": 2}


async def test_a_version_that_is_not_promoted_waits(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    answer = await publish(http, definition_id, "2", promote=False)
    assert (answer["version"], answer["aliases"]) == (2, {"stable": {"version": 1, "percent": None}})
    assert (await http.get(f"/v1/definitions/{definition_id}")).json()["version"] == 1
    assert await versions_of_runs(http, definition_id, ["a"]) == {"a": 1}


async def test_the_first_version_is_promoted_whatever_is_asked(http: httpx.AsyncClient) -> None:
    assert await aliases(http, await published(http, 1, promote=False)) == {"stable": (1, None)}


async def test_publishing_older_content_again_lets_new_runs_get_it_again(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 2)
    assert (await publish(http, definition_id, "1"))["version"] == 1
    assert await versions_of_runs(http, definition_id, ["a"]) == {"a": 1}


async def test_a_definition_given_whole_to_a_run_changes_nothing_for_others(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    tried = {"definition": {**HELLO, "id": definition_id, "title": "tried"}}
    assert (await http.post("/v1/runs", json=tried)).json()["version"] == 2
    assert (await http.post("/v1/workflow", json=tried)).json()["version"] == 2
    assert await aliases(http, definition_id) == {"stable": (1, None)}


async def test_a_run_may_name_a_version_or_an_alias(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 3)
    await put(http, definition_id, "pilot", version=2)
    refs = {
        f"{definition_id}@1": 1,
        f"{definition_id}@v3": 3,
        f"{definition_id}@pilot": 2,
        f"{definition_id}@stable": 3,
    }
    for ref, version in refs.items():
        assert (await http.post("/v1/runs", json={"definition": ref})).json()["version"] == version
        assert (await http.post("/v1/workflow", json={"definition": ref})).json()["version"] == version
        assert (await http.get(f"/v1/definitions/{ref}")).json()["version"] == version


@pytest.mark.parametrize("choice", ["@nobody", "@7", "@", "@a@b", "@Stable"])
async def test_a_version_or_alias_that_is_not_there_is_not_found(http: httpx.AsyncClient, choice: str) -> None:
    ref = f"{await published(http, 1)}{choice}"
    assert (await http.post("/v1/runs", json={"definition": ref})).status_code == 404
    assert (await http.get(f"/v1/definitions/{ref}")).status_code == 404


async def test_a_version_named_twice_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": f"{await published(http, 2)}@1", "version": 2})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "version")


async def test_a_key_that_names_a_version_is_another_request_than_one_of_another_version(
    http: httpx.AsyncClient,
) -> None:
    definition_id, key = await published(http, 2), uuid.uuid4().hex
    await http.post("/v1/runs", json={"definition": f"{definition_id}@1", "key": key})
    response = await http.post("/v1/runs", json={"definition": f"{definition_id}@2", "key": key})
    assert (response.status_code, response.json()["differences"]) == (409, ["definition"])


async def test_a_key_stays_one_run_when_its_alias_is_moved(http: httpx.AsyncClient) -> None:
    definition_id, key = await published(http, 2), uuid.uuid4().hex
    await put(http, definition_id, "pilot", version=1)
    await http.post("/v1/runs", json={"definition": f"{definition_id}@pilot", "key": key})
    await put(http, definition_id, "pilot", version=2)
    again = await http.post("/v1/runs", json={"definition": f"{definition_id}@pilot", "key": key})
    assert (again.status_code, again.json()["version"], again.json()["created"]) == (202, 1, False)


async def test_a_canary_gets_its_share_by_the_runs_key(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    await publish(http, definition_id, "2", promote=False)
    assert (await put(http, definition_id, "canary", version=2, percent=30)).status_code == 200
    keys = [f"order-{number}" for number in range(30)]
    found = await versions_of_runs(http, definition_id, keys)
    assert found == {key: 2 if in_canary(definition_id, key, 30) else 1 for key in keys}
    assert set(found.values()) == {1, 2}
    pinned = await versions_of_runs(http, f"{definition_id}@stable", [f"pinned-{number}" for number in range(10)])
    assert set(pinned.values()) == {1}


async def test_all_runs_about_a_document_get_the_same_version(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1, **ABOUT_A_DOCUMENT)
    await publish(http, definition_id, "2", promote=False, **ABOUT_A_DOCUMENT)
    await put(http, definition_id, "canary", version=2, percent=50)
    for document_id in (f"doc_{number}" for number in range(6)):
        order = {"definition": definition_id, "inputs": {"document_id": document_id}}
        versions = {(await http.post("/v1/runs", json=order)).json()["version"] for _ in range(4)}
        assert versions == {2 if in_canary(definition_id, document_id, 50) else 1}


async def test_an_execution_is_chosen_a_version_when_it_is_submitted(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    await publish(http, definition_id, "2", promote=False)
    await put(http, definition_id, "canary", version=2, percent=100)
    execution = (await http.post("/v1/workflow", json={"definition": definition_id})).json()
    assert execution["version"] == 2
    await roll_back(http, definition_id)
    triggered = await http.post(f"/v1/workflow/trigger/{execution['execution_id']}")
    assert triggered.json()["version"] == 2


async def test_promoting_the_canary_ends_it(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    await publish(http, definition_id, "2", promote=False)
    await put(http, definition_id, "canary", version=2, percent=10)
    response = await put(http, definition_id, "stable", version=2, reason="a week without a complaint")
    assert response.json()["aliases"] == {"stable": {"version": 2, "percent": None}}


async def test_a_rollback_ends_the_canary_then_goes_back_version_by_version(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 3)
    await publish(http, definition_id, "4", promote=False)
    await put(http, definition_id, "canary", version=4, percent=10)
    first = (await roll_back(http, definition_id, reason="wrong totals")).json()
    assert first["moves"] == [{"alias": "canary", "before": {"version": 4, "percent": 10}, "after": None}]
    assert first["aliases"] == {"stable": {"version": 3, "percent": None}}
    assert [(await roll_back(http, definition_id)).json()["aliases"]["stable"]["version"] for _ in range(2)] == [2, 1]
    refused = await roll_back(http, definition_id)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/nothing-to-undo")
    assert await versions_of_runs(http, definition_id, ["a"]) == {"a": 1}


async def test_a_rollback_needs_no_body(http: httpx.AsyncClient) -> None:
    response = await http.post(f"/v1/definitions/{await published(http, 2)}/rollback")
    assert (response.status_code, response.json()["aliases"]["stable"]["version"]) == (200, 1)


async def test_two_rollbacks_at_once_undo_two_moves(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 3)
    answers = await asyncio.gather(*(roll_back(http, definition_id) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 409]
    assert await aliases(http, definition_id) == {"stable": (1, None)}


async def test_every_move_records_who_when_from_to_and_why(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 2)
    await put(http, definition_id, "pilot", version=1)
    await http.delete(f"/v1/definitions/{definition_id}/aliases/pilot", params={"reason": "done"})
    await roll_back(http, definition_id, reason="wrong totals")
    path = f"/v1/definitions/{definition_id}/moves"
    first = (await http.get(path, params={"limit": 2})).json()
    second = (await http.get(path, params={"after": first["after"]})).json()
    reported = [
        (move["kind"], move["alias"], named(move["before"]), named(move["after"]), move["reason"])
        for move in first["moves"] + second["moves"]
    ]
    assert reported == [
        ("rollback", "stable", 2, 1, "wrong totals"),
        ("remove", "pilot", 1, None, "done"),
        ("set", "pilot", None, 1, ""),
        ("publish", "stable", 1, 2, ""),
        ("publish", "stable", None, 1, ""),
    ]
    assert {move["moved_by"] for move in first["moves"] + second["moves"]} == {"tester"}
    assert second["after"] is None


def named(target: Json) -> int | None:
    return None if target is None else int(target["version"])


@pytest.mark.parametrize(
    ("alias", "wanted", "path"),
    [
        ("canary", {"version": 1}, "percent"),
        ("canary", {"version": 2, "percent": 10}, "version"),
        ("canary", {"version": 1, "percent": 101}, "percent"),
        ("stable", {"version": 1, "percent": 10}, "percent"),
        ("v4", {"version": 1}, "alias"),
        ("Pilot", {"version": 1}, "alias"),
        ("pilot", {"version": 0}, "version"),
    ],
)
async def test_an_alias_that_cannot_be_is_refused(
    http: httpx.AsyncClient, alias: str, wanted: dict[str, Json], path: str
) -> None:
    response = await put(http, await published(http, 2), alias, **wanted)
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, path)


async def test_stable_cannot_be_removed(http: httpx.AsyncClient) -> None:
    response = await http.delete(f"/v1/definitions/{await published(http, 1)}/aliases/stable")
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "alias")


@pytest.mark.parametrize("definition_id", ["nowhere", "a%00b", "x" * 300])
async def test_an_unknown_definition_has_no_aliases(http: httpx.AsyncClient, definition_id: str) -> None:
    path = f"/v1/definitions/{definition_id}"
    answers = [
        *[await http.get(f"{path}/{part}") for part in ("aliases", "moves", "versions", "diff")],
        await http.put(f"{path}/aliases/stable", json={"version": 1}),
        await http.delete(f"{path}/aliases/pilot"),
        await http.post(f"{path}/rollback"),
    ]
    assert {answer.status_code for answer in answers} == {404}


async def test_a_version_or_an_alias_that_is_not_there_cannot_be_named_or_removed(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    assert (await put(http, definition_id, "stable", version=2)).status_code == 404
    assert (await http.delete(f"/v1/definitions/{definition_id}/aliases/pilot")).status_code == 404
    assert await aliases(http, definition_id) == {"stable": (1, None)}


async def test_another_tenants_aliases_do_not_exist(http: httpx.AsyncClient) -> None:
    definition_id, other = await published(http, 2), {"X-Test-Tenant": "globex"}
    assert (await http.get(f"/v1/definitions/{definition_id}/aliases", headers=other)).status_code == 404
    assert (await http.post(f"/v1/definitions/{definition_id}/rollback", headers=other)).status_code == 404


async def test_a_run_stays_with_its_version_for_life(service: Service) -> None:
    definition_id = await published(service.http, 1)
    slow = {"id": definition_id, "steps": [{"id": "nap", "handler": "sleep", "config": {"seconds": 3600}}]}
    await service.http.post("/v1/definitions", json={"definition": slow})
    run = (await service.http.post("/v1/runs", json={"definition": definition_id})).json()
    await roll_back(service.http, definition_id)
    shown = (await service.http.get(f"/v1/runs/{run['run_id']}")).json()
    assert (run["version"], shown["version"], list(shown["steps"])) == (2, 2, ["nap"])
    await service.http.post(f"/v1/runs/{run['run_id']}/abort")
    await service.ended(run["run_id"])


async def test_a_definition_that_was_changed_in_the_database_does_not_run(service: Service) -> None:
    definition_id = await published(service.http, 1)
    execution = (await service.http.post("/v1/workflow", json={"definition": definition_id})).json()
    body = (await service.http.get(f"/v1/definitions/{definition_id}")).json()["body"]
    await service.app.db.execute(
        "UPDATE definitions SET body = $2 WHERE definition_id = $1", definition_id, {**body, "title": "smuggled"}
    )
    answers = [
        await service.http.post("/v1/runs", json={"definition": definition_id}),
        await service.http.get(f"/v1/definitions/{definition_id}"),
        await service.http.get(f"/v1/definitions/{definition_id}/diff"),
        await service.http.post(f"/v1/workflow/trigger/{execution['execution_id']}"),
        await service.http.post("/v1/definitions", json={"definition": {**HELLO, "id": definition_id, "title": "1"}}),
    ]
    assert {(answer.status_code, answer.json()["type"]) for answer in answers} == {(500, "/problems/damaged")}
