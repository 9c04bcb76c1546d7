"""Nested runs, switches, aborts and lists of items, on the real server; each run replayed after its end."""

from typing import cast

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import ABORT, STATE, child_run_id, workflow_id
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

PAYMENT = {
    "id": "payment",
    "inputs": {"amount": {"type": "number", "required": True}},
    "steps": [step("book", "echo", config={"booked": "{{ inputs.amount }}"})],
    "outputs": {"approved": "{{ book.booked > 10 }}"},
}
ASKING = {
    "id": "asking",
    "steps": [{"id": "reply", "wait": {"for": "signal"}}],
    "outputs": {"said": "{{ reply.word }}"},
}


def nested(step_id: str, definition: str, **inputs: Json) -> dict[str, Json]:
    return {"id": step_id, "workflow": {"id": definition, "inputs": inputs}}


async def test_a_nested_run_gives_its_outputs(bench: Bench) -> None:
    report = await bench.run(
        [
            step("parse", "echo", config={"total": 12.5}),
            {**nested("pay", "payment", amount="{{ parse.total }}"), "depends_on": ["parse"]},
        ],
        nested=[PAYMENT],
        outputs={"approved": "{{ pay.approved }}"},
    )
    assert report.outputs == {"approved": True}


async def test_a_nested_run_that_fails_fails_its_step(bench: Bench) -> None:
    broken = {**PAYMENT, "steps": [step("book", "bad", config={"message": "no such account"})], "outputs": {}}
    report = await bench.run([nested("pay", "payment", amount=1)], nested=[broken])
    assert report.steps["pay"].error
    assert report.steps["pay"].error.message == "book: no such account"


async def test_inputs_that_a_nested_definition_refuses_fail_the_step(bench: Bench) -> None:
    report = await bench.run([nested("pay", "payment", amount="much")], nested=[PAYMENT])
    assert report.steps["pay"].error
    assert report.steps["pay"].error.type == "InvalidInput"


async def waiting_child(bench: Bench, handle: WorkflowHandle[Run, RunReport]) -> WorkflowHandle[Run, RunReport]:
    """Return the run inside step `outer` once it waits."""
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    child = bench.client.get_workflow_handle(workflow_id("default", child_run_id(report.run_id, "outer")))

    async def is_waiting() -> bool:
        try:
            inner: RunReport = await child.query(STATE, result_type=RunReport)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return False
        return inner.status is RunStatus.WAITING

    await eventually(is_waiting, "the nested run waits")
    return cast(WorkflowHandle[Run, RunReport], child)


async def test_a_wait_inside_a_nested_run_is_answered(bench: Bench) -> None:
    handle = await bench.start([nested("outer", "asking")], nested=[ASKING], outputs={"said": "{{ outer.said }}"})
    child = await waiting_child(bench, handle)
    await bench.answer(child, "reply", {"word": "hello"})
    assert (await bench.finish(handle)).outputs == {"said": "hello"}
    await bench.replay(child, "_inside")


async def test_cancelling_flows_down_to_nested_runs(bench: Bench) -> None:
    handle = await bench.start([nested("outer", "asking")], nested=[ASKING])
    child = await waiting_child(bench, handle)
    await handle.execute_update(ABORT, "enough")
    report = await bench.finish(handle)
    inner: RunReport = await child.query(STATE, result_type=RunReport)
    assert (report.status, report.steps["outer"].status) == (RunStatus.ABORTED, StepStatus.CANCELLED)
    assert inner.status is RunStatus.CANCELLED
    await bench.replay(child, "_inside")


async def test_a_switch_takes_one_branch(bench: Bench) -> None:
    route = {
        "id": "route",
        "switch": [
            {"when": "inputs.amount >= 1000", "branch": "large"},
            {"when": "inputs.amount >= 100", "branch": "medium"},
            {"else": "small"},
        ],
    }
    report = await bench.run(
        [route, step("large", depends_on=["route.large"]), step("rest", depends_on=["route.medium", "route.small"])],
        inputs={"amount": 500},
    )
    assert report.steps["route"].output == {"branch": "medium"}
    assert report.steps["large"].reason is SkipReason.UPSTREAM_SKIPPED
    assert report.steps["rest"].status is StepStatus.COMPLETED


async def test_an_abort_step_ends_the_run_as_aborted(bench: Bench) -> None:
    report = await bench.run(
        [
            step("ask", "echo", config={"decision": "no"}),
            {"id": "stop", "depends_on": ["ask"], "abort": {"reason": "customer said {{ ask.decision }}"}},
            step("pay", depends_on=["stop"]),
        ]
    )
    assert (report.status, report.reason) == (RunStatus.ABORTED, "customer said no")
    assert (report.steps["stop"].status, report.steps["pay"].status) == (StepStatus.COMPLETED, StepStatus.SKIPPED)


async def test_a_step_runs_for_each_item(bench: Bench) -> None:
    report = await bench.run(
        [
            step(
                "page",
                "echo",
                for_each={"items": "{{ inputs.pages }}", "key": "item.name", "max_concurrency": 2},
                config={"text": "{{ item.name }} is {{ index }}"},
            ),
            step("join", "echo", depends_on=["page"], config={"done": "{{ page.completed }} of {{ page.total }}"}),
        ],
        inputs={"pages": [{"name": "a"}, {"name": "b"}, {"name": "c/ä"}]},
    )
    assert report.steps["page"].output["items"][2] == {
        "key": "c/ä",
        "status": "completed",
        "output": {"text": "c/ä is 2"},
    }
    assert report.steps["join"].output == {"done": "3 of 3"}


async def test_an_empty_list_completes(bench: Bench) -> None:
    report = await bench.run([step("page", for_each={"items": "{{ inputs.pages }}"})], inputs={"pages": []})
    assert report.steps["page"].output == {"total": 0, "completed": 0, "failed": 0, "items": []}


async def test_failed_items_fail_the_step_and_keep_the_rest(bench: Bench) -> None:
    report = await bench.run(
        [step("page", "bad", for_each={"items": ["a", "b"], "key": "item"}, config={"message": "torn {{ item }}"})]
    )
    reported = report.steps["page"]
    assert reported.error
    assert reported.error.message == "2 of 2 items failed: a, b; a: torn a"
    assert [item["error"]["message"] for item in reported.output["items"]] == ["torn a", "torn b"]


async def test_one_slow_item_does_not_hold_up_the_others(bench: Bench) -> None:
    bench.gates.held.append("page[0]")
    handle = await bench.start(
        [step("page", "hold", for_each={"items": [1, 2, 3, 4, 5], "max_concurrency": 2}, config={})],
    )

    async def others_ended() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["page"].items == ItemCounts(total=5, completed=4, failed=0, running=1)

    await eventually(others_ended, "all other items have completed")
    bench.gates.opened["page[0]"].set()
    assert (await bench.finish(handle)).steps["page"].output["completed"] == 5


async def test_nested_runs_for_each_item(bench: Bench) -> None:
    report = await bench.run(
        [
            {
                **nested("pay", "payment", amount="{{ item }}"),
                "for_each": {"items": [1, 20, 300], "key": "item"},
            }
        ],
        nested=[PAYMENT],
    )
    assert [item["output"]["approved"] for item in report.steps["pay"].output["items"]] == [False, True, True]
