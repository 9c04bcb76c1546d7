"""Light steps of one run that are ready at once share an activity, and each keeps its own outcome."""

from typing import Any

import pytest
from temporalio.client import WorkflowHandle

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import AttemptRequest
from docrail.workflows.contract.names import ABORT, RECORD_DEAD_LETTER, RUN_GROUP
from docrail.workflows.grouping import MANY
from docrail.workflows.run import Run
from tests.workflows.conftest import Bench, step
from tests.workflows.test_resources import TAG, tag_worker

LIGHT = ("noop", "echo", "flaky", "bad")


async def scheduled(handle: WorkflowHandle[Run, RunReport]) -> list[tuple[str, str]]:
    """Return the type and the summary of each activity."""
    return [
        (event.activity_task_scheduled_event_attributes.activity_type.name, event.user_metadata.summary.data.decode())
        for event in (await handle.fetch_history()).events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def run(bench: Bench, *steps: dict[str, Json], **more: Any) -> tuple[RunReport, list[tuple[str, str]]]:
    handle = await bench.start(steps, light=LIGHT, **more)
    return await bench.finish(handle), await scheduled(handle)


def side_by_side(*names: str, after: str, handler: str = "echo", **fields: Json) -> list[dict[str, Json]]:
    return [step(name, handler, depends_on=[after], config={"said": name}, **fields) for name in names]


async def test_light_steps_that_are_ready_at_once_share_an_activity(bench: Bench) -> None:
    middle = side_by_side("b", "c", "d", after="a", title="Say it")
    report, activities = await run(bench, step("a"), *middle, step("e", depends_on=["b", "c", "d"]))
    assert [name for name, _ in activities] == ["noop", RUN_GROUP, "noop"]
    assert activities[1][1] == '"Say it, Say it, Say it"'
    assert report.status is RunStatus.COMPLETED
    assert [report.steps[name].output for name in "bcd"] == [{"said": name} for name in "bcd"]


async def test_the_items_of_a_light_step_share_an_activity(bench: Bench) -> None:
    many = step("b", "echo", for_each={"items": "{{ inputs.names }}"}, config={"said": "{{ item }}"}, depends_on=["a"])
    inputs = {"names": ["w", "x", "y", "z"]}
    handle = await bench.start([step("a"), many], light=LIGHT, inputs=inputs, limits={"max_concurrency": 4})
    report = await bench.finish(handle)
    assert [name for name, _ in await scheduled(handle)] == ["noop", RUN_GROUP]
    assert report.status is RunStatus.COMPLETED


async def test_one_that_fails_is_made_again_alone_and_the_others_go_on(bench: Bench) -> None:
    flaky = step("b", "flaky", depends_on=["a"], config={"times": 1}, max_retries=1)
    bad = step("c", "bad", depends_on=["a"], config={"message": "no"}, optional=True)
    report, activities = await run(bench, step("a"), flaky, bad, *side_by_side("d", after="a"))
    assert [name for name, _ in activities if name != RECORD_DEAD_LETTER] == ["noop", RUN_GROUP, "flaky"]
    assert {name: (shown.status, shown.attempts) for name, shown in report.steps.items()} == {
        "a": (StepStatus.COMPLETED, 1),
        "b": (StepStatus.COMPLETED, 2),
        "c": (StepStatus.FAILED, 1),
        "d": (StepStatus.COMPLETED, 1),
    }


async def test_a_group_whose_run_is_aborted_is_cancelled(bench: Bench) -> None:
    handle = await bench.start([step("a", "gate"), step("b", "gate")], light=["gate"])
    for name in "ab":
        await bench.gates.began[name].wait()
    await handle.execute_update(ABORT, args=["enough"])
    report = await bench.finish(handle)
    assert report.status is RunStatus.ABORTED
    assert [report.steps[name].status for name in "ab"] == [StepStatus.CANCELLED] * 2
    assert [name for name, _ in await scheduled(handle)] == [RUN_GROUP]


async def test_heavy_limited_and_lone_steps_are_activities_of_their_own(bench: Bench) -> None:
    steps = [
        step("a"),
        step("b", "rows", depends_on=["a"], config={"count": 1}),
        step("c", depends_on=["a"], resource_tag=TAG),
        step("d", depends_on=["a"]),
    ]
    async with tag_worker(bench, bench.gates.handlers()):
        report, activities = await run(bench, *steps)
    assert report.status is RunStatus.COMPLETED
    assert sorted(name for name, _ in activities) == ["noop", "noop", "noop", "rows"]


@pytest.mark.parametrize(
    ("fields", "groups"), [({}, 1), ({"priority": 2}, 2), ({"retry_config": {"initial_delay": 7}}, 2)]
)
async def test_only_steps_of_one_priority_and_retry_policy_share_an_activity(
    bench: Bench, fields: dict[str, Json], groups: int
) -> None:
    first, second = side_by_side("b", "c", after="a"), side_by_side("d", "e", after="a")
    _, activities = await run(bench, step("a"), *first, *(each | fields for each in second))
    assert [name for name, _ in activities] == ["noop", *[RUN_GROUP] * groups]


@pytest.mark.parametrize("count", [MANY - 1, MANY])
async def test_many_calls_that_start_at_once_are_reported_together(bench: Bench, count: int) -> None:
    names = [f"s{number}" for number in range(count)]
    steps = [step("a"), *side_by_side(*names, after="a", handler="echo"), step("z", depends_on=names)]
    handle = await bench.start(steps, limits={"max_concurrency": count})
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED
    assert await one_of_many(handle) == {"a": False, **dict.fromkeys(names, count == MANY), "z": False}


async def test_calls_in_a_group_are_not_among_the_many(bench: Bench) -> None:
    light = side_by_side(*(f"s{number}" for number in range(MANY - 1)), after="a")
    heavy = [step(name, "rows", config={"count": 1}, depends_on=["a"]) for name in "bc"]
    handle = await bench.start([step("a"), *light, *heavy], light=LIGHT, limits={"max_concurrency": 2 * MANY})
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED
    assert await one_of_many(handle) == dict.fromkeys("abc", False)


async def one_of_many(handle: WorkflowHandle[Run, RunReport]) -> dict[str, bool]:
    """Return whether each step's call was one of many."""
    history = await handle.fetch_history()
    made = [event.activity_task_scheduled_event_attributes for event in history.events]
    inputs = [each.input.payloads for each in made if each.activity_type.name != RUN_GROUP]
    calls = [AttemptRequest.model_validate_json(payloads[0].data) for payloads in inputs if payloads]
    return {call.step_id: call.is_one_of_many for call in calls}
