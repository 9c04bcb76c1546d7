"""Runs whose state is too large for one message are retried like others."""

import pytest

from docrail.dag.engine.saved_state import MAX_WHOLE_BYTES
from docrail.dag.values.json_values import Json, size_of
from docrail.services.engine import MAX_REQUEST_BYTES, describe
from docrail.services.runs.saved import saved_state
from tests.api.service import Service
from tests.api.test_retries import failed, retry
from tests.loopback import Loopback, Reply, loopback, reply_json

pytestmark = pytest.mark.slow

ITEMS = 300
"""In chunks, and so few that each may give nearly 5 KB."""
TEXT = "x" * 4_300
NOT_THERE, FOUND = Reply(404, b"not there yet"), reply_json({"text": TEXT})


def fetching(server: Loopback, definition_id: str) -> dict[str, Json]:
    """Return a definition that calls the server for each of many large items."""
    items: list[Json] = [{"key": f"item-{number}", "text": "{{ inputs.text }}"} for number in range(ITEMS)]
    fetch = {
        "id": "fetch",
        "handler": "call_external_service",
        "for_each": {"items": items, "key": "item.key", "max_concurrency": 20},
        "config": {"url": server.url, "body": {"key": "{{ item.key }}"}},
        "max_retries": 0,
    }
    count = {"id": "count", "handler": "echo", "depends_on": ["fetch"], "config": {"value": "{{ fetch.completed }}"}}
    return {
        "id": definition_id,
        "inputs": {"text": {"type": "string", "default": TEXT}},
        "steps": [fetch, count],
        "outputs": {"count": "{{ count.value }}"},
    }


async def test_a_failed_long_list_goes_on_with_what_it_has_however_often(calling: Service) -> None:
    replies = [NOT_THERE, NOT_THERE, *[FOUND] * (ITEMS - 2), NOT_THERE, FOUND]
    async with loopback(*replies) as server:
        run_id = await failed(calling, fetching(server, "large_list"))
        state = await saved_state(calling.app, await describe(calling.app, "default", run_id))
        assert size_of(state) > max(MAX_WHOLE_BYTES, MAX_REQUEST_BYTES)
        statuses = [item["status"] for item in state["steps"]["fetch"]["fan"]["items"]]
        assert (statuses.count("completed"), statuses.count("failed")) == (ITEMS - 2, 2)
        reported = await retry(calling.http, run_id)
        assert reported.status_code == 200, reported.text
        run = await calling.closed(run_id)
        assert (run["status"], run["steps"]["fetch"]["items"]["completed"]) == ("failed", ITEMS - 1)
        assert (await retry(calling.http, run_id)).status_code == 200
        run = await calling.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"count": ITEMS})
    assert len(server.asked) == ITEMS + 2 + 1  # what completed was kept


async def test_a_run_inside_another_goes_on_with_its_large_state_too(calling: Service) -> None:
    async with loopback(NOT_THERE, FOUND) as server:
        inner = fetching(server, "large_inner")
        assert (await calling.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
        steps = [{"id": "inside", "workflow": {"id": "large_inner"}}]
        run_id = await failed(calling, {"id": "large_outer", "steps": steps, "outputs": {"all": "{{ inside.count }}"}})
        reported = await retry(calling.http, run_id)
        assert reported.status_code == 200, reported.text
        run = await calling.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"all": ITEMS})
    assert len(server.asked) == ITEMS + 1
