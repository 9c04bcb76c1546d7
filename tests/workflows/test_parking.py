"""Failed steps that wait for a person, and their dead-letter records; each run replayed after its end."""

import pytest
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import ABORT, RESOLVE, STATE
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

PARK: Json = {"on_failure": "park"}


async def until_parked(handle: WorkflowHandle[Run, RunReport], step_id: str, letters: int, bench: Bench) -> None:
    async def is_parked() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        parked = report.steps[step_id].status is StepStatus.PARKED and report.status is RunStatus.WAITING
        return parked and len(bench.gates.letters) == letters

    await eventually(is_parked, f"{step_id} is parked")


async def resolve(handle: WorkflowHandle[Run, RunReport], step_id: str, kind: str, value: Json = None) -> None:
    await handle.execute_update(RESOLVE, args=[step_id, kind, value, "ann"])


async def test_a_parked_step_is_tried_again_with_another_config(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("before"),
            step("load", "flaky", max_retries=0, config={"times": 9}, depends_on=["before"]),
            step("after", "echo", depends_on=["load"], config={"attempts": "{{ load.attempts }}"}),
        ],
        **PARK,
    )
    await until_parked(handle, "load", 1, bench)
    await resolve(handle, "load", "retry")
    await until_parked(handle, "load", 3, bench)  # after the retry, and the second failure
    await resolve(handle, "load", "retry", {"times": 0})
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    assert report.steps["after"].output == {"attempts": 1}
    assert report.steps["load"].resolved_by == "ann"
    assert bench.gates.calls.count("before") == 1
    assert [letter.status for letter in bench.gates.letters] == ["parked", "running", "parked", "running"]


async def test_a_parked_step_is_skipped_or_given_an_output(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("a", "bad", config={"message": "no"}),
            step("b", "bad", config={"message": "no"}),
            step("sum", "echo", depends_on=["a", "b"], config={"b": "{{ b.value }}"}),
        ],
        **PARK,
    )
    await until_parked(handle, "a", 2, bench)
    await resolve(handle, "a", "skip")
    await resolve(handle, "b", "output", {"value": 7})
    report = await bench.finish(handle)
    assert report.steps["a"].reason is SkipReason.OPERATOR
    assert report.steps["sum"].output == {"b": 7}
    assert report.status is RunStatus.COMPLETED


async def test_a_run_with_a_parked_step_can_be_aborted(bench: Bench) -> None:
    handle = await bench.start([step("a", "bad", config={"message": "no"}), step("b", depends_on=["a"])], **PARK)
    await until_parked(handle, "a", 1, bench)
    await handle.execute_update(ABORT, "enough")
    report = await bench.finish(handle)
    assert (report.status, report.steps["a"].status) == (RunStatus.ABORTED, StepStatus.FAILED)


async def test_a_step_that_is_not_parked_cannot_be_resolved(bench: Bench) -> None:
    handle = await bench.start([step("a", "bad", config={"message": "no"}), step("b", depends_on=["a"])], **PARK)
    await until_parked(handle, "a", 1, bench)
    for wrong in (("b", "skip", None), ("nobody", "skip", None), ("a", "forget", None), ("a", "skip", 1)):
        with pytest.raises(WorkflowUpdateFailedError):
            await resolve(handle, *wrong)
    await resolve(handle, "a", "skip")
    await bench.finish(handle)


async def test_only_the_failed_items_of_a_parked_step_run_again(bench: Bench) -> None:
    items = {"items": "{{ inputs.times }}", "key": "item"}
    handle = await bench.start(
        [step("load", "flaky", max_retries=1, for_each=items, config={"times": "{{ item }}"})],
        inputs={"times": [0, 1, 2]},
        **PARK,
    )
    await until_parked(handle, "load", 1, bench)
    await resolve(handle, "load", "retry")
    await until_parked(handle, "load", 3, bench)
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    assert [item["status"] for item in report.steps["load"].output["items"]] == ["completed", "completed", "failed"]
    assert report.steps["load"].attempts == 2  # of the one item that ran again
    await resolve(handle, "load", "skip")
    await bench.finish(handle)


async def test_items_of_a_parked_step_are_given_what_they_need(bench: Bench) -> None:
    items = {"items": "{{ inputs.times }}", "key": "item"}
    handle = await bench.start(
        [step("load", "flaky", max_retries=0, for_each=items, config={"times": "{{ item }}"})],
        inputs={"times": [0, 7, 8, 9]},
        **PARK,
    )
    await until_parked(handle, "load", 1, bench)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await resolve(handle, "load", "items", {"77": {"skip": True}})
    assert isinstance(refused.value.cause, ApplicationError)
    assert refused.value.cause.details == ([["items.77", "the list has no such item, but 4 others", "7"]],)
    given = {"7": {"config": {"times": 0}}, "8": {"output": {"attempts": 5}}, "9": {"skip": True}}
    await resolve(handle, "load", "items", given)
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    reported = [(item["status"], item.get("output")) for item in report.steps["load"].output["items"]]
    assert reported == [
        *(("completed", {"attempts": 1}), ("completed", {"attempts": 1}), ("completed", {"attempts": 5})),
        ("skipped", None),
    ]


async def test_every_failure_is_reported_to_the_inbox(bench: Bench) -> None:
    report = await bench.run(
        [
            step("a", "bad", config={"message": "torn"}),
            step("b", depends_on=["a"]),
            step("c", "bad", config={"message": "minor"}, optional=True),
        ]
    )
    assert report.status is RunStatus.FAILED
    reported = {letter.step_id: (letter.status, letter.error_message) for letter in bench.gates.letters}
    assert reported == {"a": ("failed", "torn"), "c": ("failed", "minor")}
