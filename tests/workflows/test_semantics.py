"""A run keeps the semantics that it began with; one of newer code waits for a worker that knows them."""

import gc
import uuid
from collections.abc import Iterator
from typing import cast

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle

from docrail.dag.engine import plan
from docrail.dag.engine.plan import SEMANTICS, UnknownSemanticsError, compile_plan, plan_of
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json, digest
from docrail.workflows.contract.names import WORKFLOW_TYPE, RunRequest, child_run_id, workflow_id
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, pinned, step

pytestmark = pytest.mark.filterwarnings("ignore:coroutine '_WorkflowInstanceImpl")  # the SDK's, of an init that raised

INNER = {"id": "inner", "steps": [step("last")]}
OUTER = {"id": "outer", "steps": [{"id": "inside", "workflow": {"id": "inner", "inputs": {}}}]}


@pytest.fixture(autouse=True)
def _warned_here(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Let the SDK's warning come before the next test: set up first, so torn down when the worker is gone."""
    yield
    caplog.get_records("call").clear()  # they hold the tracebacks
    gc.collect()


async def start(bench: Bench, semantics: int) -> WorkflowHandle[Run, RunReport]:
    """Start a run with another one inside it, as code with these semantics would."""
    document = to_json(Definition.model_validate({**OUTER, "title": uuid.uuid4().hex}))  # no other test's plan
    request = RunRequest(
        tenant_id="default",
        run_id=f"outer.{uuid.uuid4().hex}",
        definition=document,
        version=1,
        digest=digest(document),
        inputs={},
        nested={"inner": pinned(INNER)},
        semantics=semantics,
    )
    id_ = workflow_id("default", request.run_id)
    started = await bench.client.start_workflow(
        WORKFLOW_TYPE, request, id=id_, task_queue=bench.task_queue, result_type=RunReport
    )
    return cast(WorkflowHandle[Run, RunReport], started)


def test_a_plan_is_compiled_for_the_semantics_it_is_asked_for() -> None:
    document: dict[str, Json] = to_json(Definition.model_validate(INNER))
    assert plan_of(document).semantics == SEMANTICS
    assert plan_of(document, 1).semantics == 1


@pytest.mark.parametrize("semantics", [0, SEMANTICS + 1])
def test_a_plan_is_never_compiled_for_semantics_that_are_not_known(semantics: int) -> None:
    with pytest.raises(UnknownSemanticsError, match=rf"semantics {semantics}, and this build knows 1 to {SEMANTICS}"):
        compile_plan(Definition.model_validate(INNER), semantics)


async def test_a_run_of_newer_code_waits_for_a_worker_that_knows_its_semantics(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not fail for good: in a rolling upgrade the next worker that takes it may be a newer one."""
    handle = await start(bench, SEMANTICS + 1)

    async def reported() -> bool:
        kind = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
        events = [event async for event in handle.fetch_history_events() if event.event_type == kind]
        failures = [event.workflow_task_failed_event_attributes.failure.message for event in events]
        return any(f"this build knows 1 to {SEMANTICS}" in message for message in failures)

    await eventually(reported, "the workflow task to say what is missing")
    monkeypatch.setattr(plan, "SEMANTICS", SEMANTICS + 1)  # the newer build takes over
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED


async def test_a_run_inside_another_has_its_semantics(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SEMANTICS", SEMANTICS + 1)
    handle = await start(bench, SEMANTICS + 1)
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED
    inner = child_run_id(handle.id.replace("default/outer/", "outer."), "inside")
    history = await bench.client.get_workflow_handle(workflow_id("default", inner)).fetch_history()
    argument = history.events[0].workflow_execution_started_event_attributes.input.payloads[0].data
    assert RunRequest.model_validate_json(argument).semantics == SEMANTICS + 1
