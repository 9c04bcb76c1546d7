"""Steps that wait for signals, webhooks, timers and people, on the real server; each run replayed after its end."""

import asyncio

import pytest
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import ReviewCall, ReviewEnd
from docrail.workflows.contract.names import (
    ABORT,
    ANSWER,
    CLOSE_REVIEW,
    ESCALATE_REVIEW,
    INVALID_VALUE,
    NOT_ALLOWED,
    OPEN_REVIEW,
    STATE,
    UNKNOWN_STEP,
    WRONG_STATE,
)
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

DECISION = {"type": "object", "required": ["decision"], "properties": {"decision": {"type": "string"}}}


def wait(step_id: str, *parents: str, **fields: Json) -> dict[str, Json]:
    return {"id": step_id, "depends_on": list(parents), "wait": {"for": "signal", **fields}}


def human(step_id: str, **fields: Json) -> dict[str, Json]:
    return {"id": step_id, "human": {"queue": "payments", "title": "Pay?", "form": DECISION, **fields}}


async def status_of(handle: WorkflowHandle[Run, RunReport]) -> RunStatus:
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    return report.status


async def until_waiting(handle: WorkflowHandle[Run, RunReport]) -> None:
    async def is_waiting() -> bool:
        return await status_of(handle) is RunStatus.WAITING

    await eventually(is_waiting, "the run waits")


async def refused(bench: Bench, handle: WorkflowHandle[Run, RunReport], step_id: str, answer: Json) -> str | None:
    """Return the error type with which an answer is refused."""
    with pytest.raises(WorkflowUpdateFailedError) as refusal:
        await bench.answer(handle, step_id, answer)
    assert isinstance(refusal.value.cause, ApplicationError)
    return refusal.value.cause.type


async def test_a_wait_is_answered(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("a"),
            wait("reply", "a", accept=DECISION, timeout_seconds=3600, on_timeout="abort"),
            step("pay", "echo", depends_on=["reply"], config={"how": "{{ reply.decision }}"}),
        ]
    )
    await until_waiting(handle)
    assert await refused(bench, handle, "reply", {"verdict": "yes"}) == INVALID_VALUE
    assert await refused(bench, handle, "pay", {}) == UNKNOWN_STEP
    await bench.answer(handle, "reply", {"decision": "process"})
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    assert report.steps["pay"].output == {"how": "process"}
    assert report.steps["reply"].answered_by == "ann"


async def test_an_answer_may_come_before_the_wait(bench: Bench) -> None:
    handle = await bench.start([step("slow", "gate"), wait("reply", "slow")])
    await bench.gates.began["slow"].wait()
    await bench.answer(handle, "reply", {"early": True})
    assert await refused(bench, handle, "reply", {"late": True}) == WRONG_STATE
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    assert report.steps["reply"].output == {"early": True}


async def test_a_signal_answers_without_a_reply(bench: Bench) -> None:
    handle = await bench.start([wait("reply", accept=DECISION)])
    await handle.signal(ANSWER, args=["reply", {"wrong": 1}, "bob"])  # dropped: it does not fit
    await handle.signal(ANSWER, args=["reply", {"decision": "yes"}, "bob"])
    report = await bench.finish(handle)
    assert (report.steps["reply"].output, report.steps["reply"].answered_by) == ({"decision": "yes"}, "bob")


@pytest.mark.parametrize(
    ("on_timeout", "run", "reply", "after"),
    [
        ("abort", RunStatus.ABORTED, StepStatus.CANCELLED, StepStatus.SKIPPED),
        ("fail", RunStatus.FAILED, StepStatus.FAILED, StepStatus.SKIPPED),
        ("continue", RunStatus.COMPLETED, StepStatus.COMPLETED, StepStatus.COMPLETED),
    ],
)
async def test_nobody_answers(
    bench: Bench, on_timeout: str, run: RunStatus, reply: StepStatus, after: StepStatus
) -> None:
    report = await bench.run(
        [wait("reply", timeout_seconds=0.1, on_timeout=on_timeout), step("after", depends_on=["reply"])]
    )
    assert (report.status, report.steps["reply"].status, report.steps["after"].status) == (run, reply, after)
    assert report.steps["reply"].decided_by == "timeout"


async def test_a_timeout_takes_its_branch(bench: Bench) -> None:
    report = await bench.run(
        [
            wait("reply", timeout_seconds=0.1, on_timeout={"branch": "late"}),
            step("remind", depends_on=["reply.late"]),
            step("thank", depends_on=["reply"], condition="steps.reply.branch is none"),
        ]
    )
    assert report.steps["remind"].status is StepStatus.COMPLETED
    assert report.steps["thank"].status is StepStatus.SKIPPED


async def test_a_timer_waits_as_long_as_its_template_says(bench: Bench) -> None:
    report = await bench.run(
        [
            {"id": "pause", "wait": {"for": "timer", "seconds": "{{ inputs.seconds }}"}},
            step("after", depends_on=["pause"]),
        ],
        inputs={"seconds": 0.1},
    )
    assert report.status is RunStatus.COMPLETED
    assert (report.steps["pause"].duration_seconds or 0) >= 0.1


async def test_a_waiting_run_can_be_aborted(bench: Bench) -> None:
    handle = await bench.start([wait("reply"), human("ask")])
    await until_waiting(handle)
    await handle.execute_update(ABORT, "enough")
    report = await bench.finish(handle)
    assert report.status is RunStatus.ABORTED
    assert [reported.status for reported in report.steps.values()] == [StepStatus.CANCELLED] * 2
    assert bench.gates.questions[-1][0] == CLOSE_REVIEW


async def test_a_person_decides(bench: Bench) -> None:
    handle = await bench.start(
        [
            human("ask", show={"amount": "{{ inputs.amount }}"}),
            step("pay", depends_on=["ask"], condition='ask.decision == "yes"'),
        ],
        inputs={"amount": 12},
    )
    await until_waiting(handle)
    await bench.answer(handle, "ask", {"decision": "yes"})
    report = await bench.finish(handle)
    assert report.steps["pay"].status is StepStatus.COMPLETED
    [(opened, question), (closed, end)] = bench.gates.questions
    assert (opened, closed) == (OPEN_REVIEW, CLOSE_REVIEW)
    assert isinstance(question, ReviewCall)
    assert isinstance(end, ReviewEnd)
    assert (question.queue, question.title, question.show, question.form) == (
        "payments",
        "Pay?",
        {"amount": 12},
        DECISION,
    )
    assert (end.status, end.decision, end.decided_by) == (StepStatus.COMPLETED, {"decision": "yes"}, "ann")


async def test_the_submitter_of_a_run_does_not_decide_it(bench: Bench) -> None:
    others_only = human("ask", assignees={"group": "cashiers", "not_the_submitter": True})
    handle = await bench.start([others_only], started_by="ann")
    await until_waiting(handle)
    assert await refused(bench, handle, "ask", {"decision": "yes"}) == NOT_ALLOWED  # `refused` answers as ann
    for by in ("ann", ""):
        await handle.signal(ANSWER, args=["ask", {"decision": "yes"}, by])  # dropped
    await handle.signal(ANSWER, args=["ask", {"decision": "no"}, "bob"])
    report = await bench.finish(handle)
    assert (report.steps["ask"].output, report.steps["ask"].answered_by) == ({"decision": "no"}, "bob")
    question = bench.gates.questions[0][1]
    assert isinstance(question, ReviewCall)
    assert (question.group, question.may_not_decide) == ("cashiers", ("ann",))


DOCUMENT = {"document_id": "doc_a"}


async def test_only_the_review_queue_answers_a_step_about_a_document_and_not_before_it_asks(bench: Bench) -> None:
    approval = human("ask", queue="documents", form={}) | {"depends_on": ["slow"]}
    handle = await bench.start([step("slow", "gate"), approval], document=DOCUMENT)

    async def refused_as(update_id: str | None) -> str | None:
        with pytest.raises(WorkflowUpdateFailedError) as refusal:
            await handle.execute_update(ANSWER, args=["ask", {}, "eve"], id=update_id)
        assert isinstance(refusal.value.cause, ApplicationError)
        return refusal.value.cause.type

    await bench.gates.began["slow"].wait()
    assert (await refused_as(None), await refused_as("callback-1")) == (NOT_ALLOWED, NOT_ALLOWED)
    assert (await refused_as("document-1"), await refused_as("decision-1")) == (WRONG_STATE, WRONG_STATE)
    bench.gates.opened["slow"].set()
    await until_waiting(handle)
    assert await refused_as(None) == NOT_ALLOWED
    await handle.signal(ANSWER, args=["ask", {}, "eve"])  # dropped
    await handle.execute_update(ANSWER, args=["ask", {"approved": True}, "ann"], id="document-2")
    report = await bench.finish(handle)
    assert (report.steps["ask"].output, report.steps["ask"].answered_by) == ({"approved": True}, "ann")


@pytest.mark.parametrize(("queue", "document"), [("payments", DOCUMENT), ("documents", None)])
async def test_other_questions_take_an_early_answer_from_anywhere(
    bench: Bench, queue: str, document: dict[str, Json] | None
) -> None:
    question = human("ask", queue=queue) | {"depends_on": ["slow"]}
    handle = await bench.start([step("slow", "gate"), question], document=document)
    await bench.gates.began["slow"].wait()
    await bench.answer(handle, "ask", {"decision": "yes"})
    bench.gates.opened["slow"].set()
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED


async def test_a_question_is_escalated_before_its_time_is_up(bench: Bench) -> None:
    report = await bench.run(
        [human("ask", timeout_seconds=0.1, on_timeout={"escalate_to": "managers", "then": "fail"})]
    )
    assert report.status is RunStatus.FAILED
    assert [kind for kind, _ in bench.gates.questions] == [OPEN_REVIEW, ESCALATE_REVIEW, CLOSE_REVIEW]
    assert isinstance(bench.gates.questions[1][1], ReviewCall)
    assert bench.gates.questions[1][1].queue == "managers"


async def test_an_answer_that_comes_with_the_word_that_the_question_is_open_ends_the_asking(bench: Bench) -> None:
    """Both in one workflow task: the activity returned, swallowed the cancellation, and the run never ended."""
    handles = [await bench.start([human("ask")]) for _ in range(25)]
    for handle in handles:
        await until_waiting(handle)
        await bench.answer(handle, "ask", {"decision": "yes"})
    for handle in handles:
        async with asyncio.timeout(20):
            assert (await bench.finish(handle)).status is RunStatus.COMPLETED
