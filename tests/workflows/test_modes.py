"""Ways in which steps wait, fail and stop that no other test of this room shows; each run replayed after its end."""

import pytest

from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from tests.workflows.conftest import Bench, step
from tests.workflows.test_waits import human, until_waiting, wait

Steps = list[dict[str, Json]]
FAILS = step("a", "bad", config={"message": "no"}, optional=True)
WELL = step("b")

AFTER_TIMEOUT: dict[str, tuple[Json, RunStatus, StepStatus, StepStatus]] = {
    "abort": ("abort", RunStatus.ABORTED, StepStatus.CANCELLED, StepStatus.SKIPPED),
    "fail": ("fail", RunStatus.FAILED, StepStatus.FAILED, StepStatus.SKIPPED),
    "continue": ("continue", RunStatus.COMPLETED, StepStatus.COMPLETED, StepStatus.COMPLETED),
    "branch": ({"branch": "late"}, RunStatus.COMPLETED, StepStatus.COMPLETED, StepStatus.COMPLETED),
}
"""What `on_timeout` says, and what then becomes of the run, of the step that waits and of the one after it."""


def asked_by(kind: str, on_timeout: Json) -> Steps:
    """Return a step that gets no answer in time, and one that follows it."""
    late: dict[str, Json] = {"timeout_seconds": 0.2, "on_timeout": on_timeout}
    question = human("ask", **late) if kind == "human" else wait("ask", **late | {"for": "webhook"})
    return [question, step("after", depends_on=["ask.late" if isinstance(on_timeout, dict) else "ask"])]


@pytest.mark.parametrize("then", AFTER_TIMEOUT)
@pytest.mark.parametrize("kind", ["human", "webhook"])
async def test_of_people_and_of_callbacks_nobody_answers(bench: Bench, kind: str, then: str) -> None:
    on_timeout, run, asking, after = AFTER_TIMEOUT[then]
    report = await bench.run(asked_by(kind, on_timeout))
    assert (report.status, report.steps["ask"].status, report.steps["after"].status) == (run, asking, after)
    assert report.steps["ask"].decided_by == "timeout"


async def test_a_callback_answers(bench: Bench) -> None:
    handle = await bench.start([wait("ask", **{"for": "webhook"}), step("after", depends_on=["ask"])])
    await until_waiting(handle)
    await bench.answer(handle, "ask", {"event": "paid"})
    report = await bench.finish(handle)
    assert (report.status, report.steps["ask"].output) == (RunStatus.COMPLETED, {"event": "paid"})


JUDGED: tuple[tuple[str, list[str], SkipReason | None], ...] = (
    ("none_failed", ["b"], None),
    ("none_failed", ["a", "b"], SkipReason.UPSTREAM_FAILED),
    ("all_success", ["b"], None),
    ("all_success", ["a", "b"], SkipReason.UPSTREAM_FAILED),
    ("all_done", ["a", "b"], None),
    ("one_success", ["a", "b"], None),
    ("one_success", ["a"], SkipReason.UPSTREAM_FAILED),
    ("one_failed", ["a", "b"], None),
    ("one_failed", ["b"], SkipReason.RULE_NOT_MET),
    ("all_failed", ["a"], None),
    ("all_failed", ["a", "b"], SkipReason.RULE_NOT_MET),
)
"""A trigger rule, the parents, and why it skips the step; None: it runs."""


async def test_a_trigger_rule_decides_by_the_statuses_of_the_parents(bench: Bench) -> None:
    expected = {f"{rule}_of_{'_'.join(parents)}": reason for rule, parents, reason in JUDGED}
    judged = [
        step(name, depends_on=parents, trigger_rule=rule)
        for name, (rule, parents, _) in zip(expected, JUDGED, strict=True)
    ]
    report = await bench.run([FAILS, WELL, *judged])
    assert report.status is RunStatus.COMPLETED
    assert {name: report.steps[name].reason for name in expected} == expected
    ran = {name for name in expected if report.steps[name].status is StepStatus.COMPLETED}
    assert ran == {name for name, reason in expected.items() if reason is None}


async def test_all_attempts_together_take_too_long(bench: Bench) -> None:
    report = await bench.run([step("slow", "gate", total_timeout_seconds=0.3, heartbeat_seconds=1)])
    bench.gates.opened["slow"].set()
    assert report.steps["slow"].error is not None
    assert report.steps["slow"].error.message == "all attempts together took longer than 0.3 s"


def listed(**for_each: Json) -> dict[str, Json]:
    items = {"items": [0, 1, 2, 3], "key": "item", "max_concurrency": 1, **for_each}
    return step("page", "work", for_each=items, max_retries=0)


async def test_too_many_failures_stop_the_rest_of_a_list(bench: Bench) -> None:
    bench.gates.failing.append("page[1]")
    report = await bench.run([listed(on_item_error="fail_fast")])
    reported = [item["status"] for item in report.steps["page"].output["items"]]
    assert (report.status, reported) == (RunStatus.FAILED, ["completed", "failed", "skipped", "skipped"])


async def test_items_that_run_are_cancelled_when_too_many_have_failed(bench: Bench) -> None:
    bench.gates.held.append("page[0]")
    items = {"items": [{"n": 1}, {}], "max_concurrency": 2, "on_item_error": "fail_fast"}
    held = step("page", "hold", for_each=items, config={"n": "{{ item.n }}"}, heartbeat_seconds=1)
    report = await bench.run([held])
    assert [item["status"] for item in report.steps["page"].output["items"]] == ["cancelled", "failed"]


@pytest.mark.parametrize("rule", ["collect", "fail_fast"])
async def test_so_many_items_may_fail(bench: Bench, rule: str) -> None:
    bench.gates.failing.append("page[1]")
    report = await bench.run([listed(on_item_error=rule, max_failures=1)])
    assert (report.status, report.steps["page"].items) == (
        RunStatus.COMPLETED,
        ItemCounts(total=4, completed=3, failed=1, running=0),
    )
