"""Runs stay readable while no worker answers, and after Temporal has deleted them."""

import uuid

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowExecution as WorkflowExecutionInfo
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from docrail.dag.values.json_values import Json
from docrail.services.errors import Unavailable
from docrail.services.runs.views import ended
from docrail.services.runs.views import explained as explained_views
from docrail.services.runs.views.ended import copy_ended_runs
from docrail.services.runs.views.explained import DELETED as EXPLANATION_LEFT
from docrail.services.runs.views.recorded import NO_WORKER
from docrail.services.runs.views.reports import DELETED
from docrail.services.runs.views.steps import DELETED as GONE
from docrail.workflows.contract.names import DEFINITION, TENANT, WORKFLOW_TYPE, workflow_id
from tests.api.service import HELLO, Service, serve, settings_for, work
from tests.api.test_runs import start
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
    run_id = await start(service.http, HELLO)
    before = await service.closed(run_id)

    async def is_copied() -> bool:
        await copy_ended_runs(service.app)
        return await service.app.db.fetchval("SELECT true FROM ended_runs WHERE run_id = $1", run_id) is True

    await eventually(is_copied, "the run to be listed as ended")
    await delete_workflow(service, workflow_id("default", run_id))
    after = (await service.http.get(f"/v1/runs/{run_id}")).json()
    assert (after["status"], statuses(after), after["ended_at"]) == ("completed", statuses(before), before["ended_at"])
    assert after["why"][-1] == DELETED
    assert (after["outputs"], after["steps"]["greet"]["output"]) == ({}, None)
    drawn = (await service.http.get(f"/v1/runs/{run_id}/graph")).json()["run"]
    assert drawn["counts"] == {"completed": 1}
    assert {action["reason"] for action in drawn["actions"]} == {"Temporal has deleted the run"}
    explained = (await service.http.get(f"/v1/runs/{run_id}/explain")).json()
    assert explained["words"] == ["1 of 1 steps are settled, the run is completed", EXPLANATION_LEFT]
    assert explained["steps"]["greet"]["words"] == before["steps"]["greet"]["why"]
    misspelt = await service.http.get(f"/v1/runs/{run_id}/explain", params={"step": "gret"})
    assert (misspelt.status_code, "did you mean 'greet'" in misspelt.json()["detail"]) == (404, True)
    step = (await service.http.get(f"/v1/runs/{run_id}/steps/greet")).json()
    assert (step["step"]["status"], step["explanation"]["words"]) == ("completed", before["steps"]["greet"]["why"])
    assert (step["input"], step["output"], step["input_problem"], step["output_problem"]) == (None, None, GONE, GONE)
    refused = await service.http.get(f"/v1/runs/{run_id}/waits")
    assert (refused.status_code, "only its report is left" in refused.json()["detail"]) == (404, True)
    for view in ("", "/explain"):
        foreign = await service.http.get(f"/v1/runs/{run_id}{view}", headers={"X-Test-Tenant": "acme"})
        assert foreign.status_code == 404


async def test_nested_runs_that_temporal_has_deleted_are_shown_as_their_outer_run_is(service: Service) -> None:
    said = {"id": "say", "handler": "echo", "config": {"value": "hi"}}
    inner = {"id": f"inner_{uuid.uuid4().hex}", "steps": [said]}
    (await service.http.post("/v1/definitions", json={"definition": inner})).raise_for_status()
    one = {"id": "one", "workflow": {"id": inner["id"]}}
    outer = {
        "id": "outer",
        "steps": [one, one | {"id": "each", "for_each": {"items": ["a", "b"], "key": "item"}}],
    }
    run_id = await start(service.http, outer)
    await service.closed(run_id)
    nested = [f"{run_id}~one", f"{run_id}~each~a", f"{run_id}~each~b"]
    before = {each: (await service.http.get(f"/v1/runs/{each}")).json() for each in nested}

    async def are_copied() -> bool:
        await copy_ended_runs(service.app)
        count = "SELECT count(*) FROM ended_runs WHERE run_id = ANY ($1)"
        return bool(await service.app.db.fetchval(count, [run_id, *nested]) == 1 + len(nested))

    await eventually(are_copied, "the runs to be listed as ended")
    for each in (run_id, *nested):
        await delete_workflow(service, workflow_id("default", each))
    for each in nested:
        after = (await service.http.get(f"/v1/runs/{each}")).json()
        assert (after["status"], statuses(after)) == ("completed", {"say": "completed"})
        assert after["why"] == [*before[each]["why"], DELETED]
        assert after["steps"]["say"]["why"] == before[each]["steps"]["say"]["why"]
        explained = (await service.http.get(f"/v1/runs/{each}/explain")).json()
        assert explained["steps"]["say"]["words"] == before[each]["steps"]["say"]["why"]
        drawn = (await service.http.get(f"/v1/runs/{each}/graph")).json()["run"]
        assert (drawn["outer_run_id"], drawn["counts"]) == (run_id, {"completed": 1})


async def test_an_ended_run_is_explained_and_copied_without_a_worker(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result has the explanation: no worker replays it."""
    asked = list[str]()

    async def asking(_: object, execution: WorkflowExecutionInfo) -> None:
        asked.append(execution.id)  # also about runs of other tests in this Temporal
        raise Unavailable("worker", "none is asked here")

    run_ids = [
        await start(service.http, definition) for definition in (HELLO, HALF_DONE | {"steps": HALF_DONE["steps"][:2]})
    ]
    for run_id in run_ids:
        await service.closed(run_id)
    whole = [(await service.http.get(f"/v1/runs/{run_id}")).json() for run_id in run_ids]
    monkeypatch.setattr(explained_views, "_ask", asking)
    for run_id, run in zip(run_ids, whole, strict=True):
        explained = (await service.http.get(f"/v1/runs/{run_id}/explain")).json()
        assert {name: step["words"] for name, step in explained["steps"].items()} == {
            name: step["why"] for name, step in run["steps"].items()
        }
    await service.pool.execute("DELETE FROM run_explanations WHERE run_id = ANY ($1)", run_ids)

    async def are_copied() -> bool:
        await copy_ended_runs(service.app)
        count = "SELECT count(*) FROM run_explanations WHERE run_id = ANY ($1)"
        return bool(await service.app.db.fetchval(count, run_ids) == len(run_ids))

    await eventually(are_copied, "the explanations to be copied")
    assert not {workflow_id("default", run_id) for run_id in run_ids} & {*asked}


async def test_a_terminated_run_that_temporal_has_deleted_is_explained_with_its_end(service: Service) -> None:
    run_id = await start(service.http, HALF_DONE)

    async def naps() -> bool:
        return statuses((await service.http.get(f"/v1/runs/{run_id}")).json())["nap"] == "running"

    await eventually(naps, "the nap to begin")
    await service.app.temporal.get_workflow_handle(workflow_id("default", run_id)).terminate(reason="enough")

    async def is_copied() -> bool:
        await copy_ended_runs(service.app)
        return await service.app.db.fetchval("SELECT true FROM run_explanations WHERE run_id = $1", run_id) is True

    await eventually(is_copied, "the explanation to be copied")
    await delete_workflow(service, workflow_id("default", run_id))
    explained = (await service.http.get(f"/v1/runs/{run_id}/explain")).json()
    assert (explained["status"], explained["steps"]["nap"]["status"]) == ("failed", "running")
    assert explained["words"] == ["terminated in Temporal: enough", EXPLANATION_LEFT]


async def test_a_run_that_no_worker_explains_keeps_no_other_explanation_back(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended, "AT_ONCE", 1)  # the run without a worker ends first, and so is asked first
    abandoned = f"hello.{uuid.uuid4().hex}"
    pairs = [SearchAttributePair(TENANT, "default"), SearchAttributePair(DEFINITION, "hello")]
    handle = await service.app.temporal.start_workflow(
        WORKFLOW_TYPE,
        id=workflow_id("default", abandoned),
        task_queue="no-workers",
        memo={"definition": "hello", "version": 1, "digest": "d"},
        search_attributes=TypedSearchAttributes(pairs),
    )
    await handle.terminate()
    run_id = await start(service.http, HELLO)
    await service.closed(run_id)

    async def copied(table: str, run_id: str) -> bool:
        await copy_ended_runs(service.app)
        return await service.app.db.fetchval(f"SELECT true FROM {table} WHERE run_id = $1", run_id) is True

    await eventually(lambda: copied("run_explanations", run_id), "the explanation to be copied")
    assert await copied("ended_runs", abandoned)
    assert not await copied("run_explanations", abandoned)


async def test_the_copy_of_a_run_shows_its_last_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many ends within a moment are copied in several windows, and a retried run twice."""
    while await copy_ended_runs(service.app):  # what other tests have left, in ordinary windows
        pass
    monkeypatch.setattr(ended, "MOST_TOGETHER", 2)
    broken: Json = {"id": "broken", "steps": [{"id": "s", "handler": "fail", "config": {"times": 9}, "max_retries": 0}]}
    ids = [await start(service.http, broken) for _ in range(5)]
    ends = [(await service.closed(run_id))["ended_at"] for run_id in ids]

    async def copies() -> dict[str, float]:
        await copy_ended_runs(service.app)
        rows = await service.app.db.fetch("SELECT run_id, report FROM ended_runs WHERE run_id = ANY ($1)", ids)
        return {row["run_id"]: row["report"]["ended_at"] for row in rows}

    async def are_copied() -> bool:
        return await copies() == dict(zip(ids, ends, strict=True))

    await eventually(are_copied, "all to be copied")
    assert (await service.http.post(f"/v1/runs/{ids[0]}/retry", json={})).status_code < 300

    async def is_copied_again() -> bool:
        return bool((await copies())[ids[0]] > ends[0])

    await eventually(is_copied_again, "the second end to be copied")


async def test_runs_are_listed_and_copied_next_to_another_programs_workflow(service: Service) -> None:
    foreign = await service.app.temporal.start_workflow(
        WORKFLOW_TYPE,
        id=f"run-{uuid.uuid4().hex}",
        task_queue="no-workers",
        search_attributes=TypedSearchAttributes([SearchAttributePair(TENANT, "default")]),
    )
    await foreign.terminate()

    async def is_listed() -> bool:
        found = await service.app.temporal.count_workflows(f'WorkflowId = "{foreign.id}" AND CloseTime IS NOT NULL')
        return found.count == 1

    await eventually(is_listed, "Temporal to list the end of the foreign workflow")
    run_id = await start(service.http, HELLO)
    await service.closed(run_id)

    async def is_copied() -> bool:
        await copy_ended_runs(service.app)
        return await service.app.db.fetchval("SELECT true FROM ended_runs WHERE run_id = $1", run_id) is True

    await eventually(is_copied, "the run to be copied")
    listed = (await service.http.get("/v1/runs?definition=hello")).json()["runs"]
    assert run_id in [run["run_id"] for run in listed]
    assert (await service.http.get("/v1/runs")).status_code == 200


async def delete_workflow(service: Service, workflow_id: str) -> None:
    execution = WorkflowExecution(workflow_id=workflow_id)
    request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
    await service.app.temporal.workflow_service.delete_workflow_execution(request)

    async def is_deleted() -> bool:
        try:
            await service.app.temporal.get_workflow_handle(execution.workflow_id).describe()
        except RPCError as error:
            return error.status is RPCStatusCode.NOT_FOUND
        return False

    await eventually(is_deleted, "Temporal to delete the workflow")
