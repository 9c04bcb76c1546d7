"""Runs stay readable while no worker answers, and after Temporal has deleted them."""

import datetime as dt

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

from docrail.dag.values.json_values import Json
from docrail.services.runs.keeping import keep_ended_runs
from docrail.services.runs.recorded import NO_WORKER
from docrail.workflows.contract.names import workflow_id
from tests.api.service import HELLO, Service, serve, settings_for, work
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


async def test_a_run_that_temporal_has_deleted_is_shown_without_its_outputs(service: Service) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": HELLO})).json()["run_id"]
    before = await service.closed(run_id)
    app = service.app
    now = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1)

    async def is_kept() -> bool:
        await keep_ended_runs(app.db, app.temporal, now=now)
        query = "SELECT true FROM ended_runs WHERE run_id = $1"
        return await app.db.fetchval(query, run_id) is True

    await eventually(is_kept, "the run to be listed as ended, and kept")
    execution = WorkflowExecution(workflow_id=workflow_id("default", run_id))
    request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
    await app.temporal.workflow_service.delete_workflow_execution(request)

    async def is_copy() -> bool:
        answer = await service.http.get(f"/v1/runs/{run_id}")
        assert answer.status_code == 200
        return bool(answer.json()["outputs"] == {} and answer.json()["step_outputs_omitted"])

    await eventually(is_copy, "Temporal to have deleted the run")
    after = (await service.http.get(f"/v1/runs/{run_id}")).json()
    assert (after["status"], statuses(after), after["ended_at"]) == ("completed", statuses(before), before["ended_at"])
    assert after["steps"]["greet"]["output"] is None
    foreign = await service.http.get(f"/v1/runs/{run_id}", headers={"X-Test-Tenant": "acme"})
    assert foreign.status_code == 404
