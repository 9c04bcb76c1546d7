"""Steps and items that wait for a worker in one activity are explained as those that wait alone."""

from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import SLOW, Service, serve_with_worker, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers, eventually


@pytest.fixture(scope="module")
async def busy(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """Give an API whose worker has room for one activity, which is taken."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("busy"))
        async with serve_with_worker(settings.model_copy(update={"worker_activity_slots": 1})) as served:
            run_id = await start(served, SLOW)

            async def naps() -> bool:
                return "is running on" in str((await explained(served, run_id))["nap"]["words"])

            await eventually(naps, "the worker to be busy")
            yield served
            await served.http.post(f"/v1/runs/{run_id}/abort")


async def start(service: Service, definition: Json, **inputs: Json) -> str:
    response = await service.http.post("/v1/runs", json={"definition": definition, "inputs": inputs})
    assert response.status_code == 202, response.text
    run_id: str = response.json()["run_id"]
    return run_id


async def explained(service: Service, run_id: str) -> Json:
    response = await service.http.get(f"/v1/runs/{run_id}/explain")
    assert response.status_code == 200, response.text
    return response.json()["steps"]


@pytest.mark.parametrize("count", [3, 60], ids=["in one activity", "in several"])
async def test_grouped_steps_and_items_that_wait_for_a_worker_are_explained(busy: Service, count: int) -> None:
    definition: Json = {
        "id": "grouped_waits",
        "inputs": {"keys": {"type": "array"}},
        "limits": {"max_concurrency": 100},
        "steps": [
            {"id": "first", "handler": "echo", "config": {"value": "a"}},
            {
                "id": "each",
                "handler": "echo",
                "config": {"value": "{{ item }}"},
                "for_each": {"items": "{{ inputs.keys }}", "key": "item", "max_concurrency": 100},
            },
            {"id": "last", "handler": "echo", "config": {"value": "b"}},
        ],
    }
    run_id = await start(busy, definition, keys=[f"item number {number}" for number in range(count)])

    async def wait() -> bool:
        steps = await explained(busy, run_id)
        items = f"{count} waiting for a worker (item number 0, " in str(steps["each"]["words"])
        return items and all("waits for a worker" in str(steps[name]["words"]) for name in ("first", "last"))

    await eventually(wait, "the explanation that they wait for a worker")
    shown = (await busy.http.get(f"/v1/runs/{run_id}")).json()["steps"]
    assert all(
        "it waits for a worker, in one activity with other" in str(shown[name]["why"]) for name in ("first", "last")
    )
    await busy.http.post(f"/v1/runs/{run_id}/abort")
