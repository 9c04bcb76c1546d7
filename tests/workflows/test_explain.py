"""The query `explain` on the real server: of a run that waits, and of the same run after its end."""

from temporalio.client import WorkflowHandle

from docrail.dag.explain.facts import RunExplanation, Verdict
from docrail.dag.explain.report import RunReport
from docrail.dag.explain.words import RULE_WORDS, in_words
from docrail.dag.language.definition import TriggerRule
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import EXPLAIN
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step


async def explain(handle: WorkflowHandle[Run, RunReport], *wanted: Json) -> RunExplanation:
    explanation: RunExplanation = await handle.query(EXPLAIN, args=list(wanted), result_type=RunExplanation)
    return in_words(explanation)


async def test_a_run_is_explained_while_it_waits_and_after_its_end(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("count", "echo", config={"total": 5}),
            {"id": "reply", "depends_on": ["count"], "wait": {"for": "signal"}},
            step("large", depends_on=["count", "reply"], condition="count.total > 100"),
        ]
    )

    async def waits() -> bool:
        return (await explain(handle)).status is RunStatus.WAITING

    await eventually(waits, "the run waits")
    reported = (await explain(handle, "large")).steps
    assert list(reported) == ["large"]
    rule = RULE_WORDS[TriggerRule.NONE_FAILED]
    assert reported["large"].words == (
        f"none_failed decides once every parent is settled: it {rule}; count is completed, reply is waiting",
        "its condition `count.total > 100` is evaluated only if none_failed lets it run",
        "it has not begun: 1 of its 2 parents are not settled yet (reply)",
    )
    await bench.answer(handle, "reply", {"yes": True})
    await bench.finish(handle)
    ended = await explain(handle, None, "count", 1)  # the page behind `count`
    assert (list(ended.steps), ended.after) == (["reply"], "reply")
    assert ended.steps["reply"].words[-1] == 'it was answered by ann: {"yes": true}'
    large = (await explain(handle)).steps["large"]
    assert (large.status, large.condition and large.condition.verdict) == (StepStatus.SKIPPED, Verdict.NO)
    assert large.words[-1].endswith("was false, so the step is skipped (count.total = 5)")
