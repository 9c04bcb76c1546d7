"""Runs stay readable while no worker answers."""

import pytest

from docrail.dag.values.json_values import Json
from docrail.services.runs.views.recorded import NO_WORKER
from tests.api.service import serve, settings_for, work
from tests.stack import Servers, eventually

pytestmark = pytest.mark.server

HALF_DONE = {
    "id": "half_done",
    "steps": [
        {"id": "first", "handler": "echo", "config": {"value": "hi"}},
        {"id": "broken", "handler": "fail", "optional": True, "config": {"times": 1, "error": "ValueError"}},
        {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}, "depends_on": ["first"]},
        {"id": "after", "handler": "noop", "depends_on": ["nap"]},
    ],
}


def statuses(run: Json) -> dict[str, str]:
    return {name: step["status"] for name, step in run["steps"].items()}


async def test_a_run_whose_worker_is_gone_shows_what_its_steps_have_done(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("gone"))
    expected = {"first": "completed", "broken": "failed", "nap": "running", "after": "pending"}
    async with serve(settings) as served:
        async with work(settings):
            started = await served.http.post("/v1/runs", json={"definition": HALF_DONE})
            path = f"/v1/runs/{started.json()['run_id']}"

            async def is_half_done() -> bool:
                return statuses((await served.http.get(path)).json()) == expected

            await eventually(is_half_done, "the first steps to end")
        answer = await served.http.get(path)
        run = answer.json()
        assert (answer.status_code, run["status"], statuses(run)) == (200, "running", expected)
        assert run["why"] == [NO_WORKER]
        assert run["steps"]["first"]["ended_at"] >= run["steps"]["first"]["started_at"]
        assert run["steps"]["broken"]["error"]["message"]
        drawn = (await served.http.get(f"{path}/graph")).json()
        assert drawn["run"]["counts"] == {"completed": 1, "failed": 1, "running": 1, "pending": 1}
