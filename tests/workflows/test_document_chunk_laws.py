"""A law on a real server: a document's outcome in a chunk equals its outcome alone, whatever its neighbours do.

Alone, its steps give the same outcome whether or not light ones share activities.

Definitions are drawn: graphs of steps with conditions, trigger rules and optional steps, whose work succeeds, fails for
good, breaks off or stumbles once, differently for each document.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from temporalio.service import RPCError

from docrail.dag.engine.plan import SEMANTICS, plan_of
from docrail.dag.engine.saved_state import load, stopped
from docrail.dag.explain.report import RunReport, report_of
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import SAVED, DocumentChunkRequest
from tests.workflows.conftest import FAST, Bench, tools_in, work
from tests.workflows.drawing import BREAKS_OFF, REFUSES, STUMBLES
from tests.workflows.playing import DrawnWork
from tests.workflows.test_document_chunk import Handle, chunk_of, start

ENDS = ("", "", "", REFUSES, BREAKS_OFF, STUMBLES)
RULES = ("none_failed", "all_success", "all_done", "one_success")
ON_FAILURE = ("continue", "continue", "fail_fast")
DOCUMENTS = 4
INPUTS: dict[str, Json] = {"ends": {"type": "object"}, "yes": {"type": "boolean"}}
Drawn = tuple[list[dict[str, Json]], str, list[dict[str, Json]]]


@st.composite
def _drawn(draw: st.DrawFn) -> Drawn:
    count = draw(st.integers(2, 6))
    steps: list[dict[str, Json]] = []
    for number in range(count):
        parents = draw(st.lists(st.sampled_from(range(number)), max_size=2, unique=True)) if number else []
        fields: dict[str, Json] = {
            "id": f"s{number}",
            "handler": "work",
            "depends_on": [f"s{parent}" for parent in sorted(parents)],
            "config": {"ends": {"": f"{{{{ inputs.ends.s{number} }}}}"}},
            "trigger_rule": draw(st.sampled_from(RULES)) if parents else "none_failed",
            "optional": draw(st.booleans()),
            "max_retries": 1,
            "retry_config": FAST,
        }
        if draw(st.booleans()):
            fields["condition"] = "inputs.yes"
        steps.append(fields)
    documents = [
        {"ends": {f"s{number}": draw(st.sampled_from(ENDS)) for number in range(count)}, "yes": draw(st.booleans())}
        for _ in range(DOCUMENTS)
    ]
    return steps, draw(st.sampled_from(ON_FAILURE)), documents


def drawn_by(number: int, count: int) -> list[Drawn]:
    """Return so many definitions with their documents: equal arguments give equal ones."""
    found: list[Drawn] = []

    @seed(number)
    @settings(
        max_examples=count * 5,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(_drawn())
    def collect(drawn: Drawn) -> None:
        found.append(drawn)

    collect()
    return found[::5][:count]


@pytest.fixture
async def drawing(bench: Bench, tmp_path: Path) -> AsyncIterator[Bench]:
    queue, gates = f"test-{uuid4().hex}", DrawnWork()
    async with work(bench.client, queue, gates, tools_in(tmp_path), sandboxed=False):
        yield replace(bench, task_queue=queue, gates=gates, sandboxed=False, recording=None)


def outcome(report: RunReport) -> tuple[Any, ...]:
    steps = {
        name: (shown.status, shown.reason, shown.attempts, shown.output, shown.error)
        for name, shown in report.steps.items()
    }
    return report.status, report.reason, steps


async def report_in(handle: Handle, request: DocumentChunkRequest, run_id: str) -> RunReport:
    plan = plan_of(request.definition, SEMANTICS)
    state = load(plan, await handle.query(SAVED, run_id))
    return report_of(plan, state, run_id=run_id, tenant_id="default", version=1, digest=request.digest)


async def check(bench: Bench, drawn: Drawn) -> None:
    steps, on_failure, documents = drawn
    request = chunk_of(steps, documents, light=["work"], on_failure=on_failure, inputs=INPUTS)
    handle = await start(bench, request)
    await handle.result()
    await bench.replay(handle)
    for number, (run, inputs) in enumerate(zip(request.runs, documents, strict=True)):
        grouped = outcome(await report_in(handle, request, run.run_id))
        by_itself = outcome(await single(bench, drawn, inputs, number))
        side_by_side = outcome(await single(bench, drawn, inputs, number, light=["work"]))
        if on_failure == "fail_fast" and RunStatus.FAILED in (grouped[0], by_itself[0], side_by_side[0]):
            assert grouped[0] == by_itself[0] == side_by_side[0]  # which others had ended by then is a matter of time
        else:
            assert grouped == by_itself == side_by_side, (steps, inputs)


async def single(
    bench: Bench, drawn: Drawn, inputs: dict[str, Json], number: int, light: Sequence[str] = ()
) -> RunReport:
    steps, on_failure, _ = drawn
    document = {"document_id": f"doc_{number}"}
    return await bench.run(steps, inputs=inputs, document=document, on_failure=on_failure, light=light)


@pytest.mark.timeout(300)
async def test_a_documents_outcome_in_a_chunk_equals_its_outcome_alone(drawing: Bench) -> None:
    for drawn in drawn_by(1, 12):
        await check(drawing, drawn)


@pytest.mark.timeout(300)
async def test_a_chunk_killed_at_any_moment_loses_no_document(drawing: Bench) -> None:
    """However far the chunk was, its documents end alone as they would have ended in it."""
    for number, drawn in enumerate(drawn_by(2, 6)):
        steps, _, documents = drawn
        request = chunk_of(steps, documents, light=["work"], inputs=INPUTS)
        handle = await start(drawing, request)
        while len((await handle.fetch_history()).events) < 5 + 4 * number:
            if (await handle.describe()).close_time is not None:
                break
        with suppress(RPCError):  # it has ended by itself
            await handle.terminate()
        plan = plan_of(request.definition, SEMANTICS)
        saved = [stopped(plan, await handle.query(SAVED, run.run_id)) for run in request.runs]
        moved = await asyncio.gather(
            *(
                drawing.run(steps, inputs=run.inputs, document=run.document, resumed=state)
                for run, state in zip(request.runs, saved, strict=True)
            )
        )
        for place, (inputs, report) in enumerate(zip(documents, moved, strict=True)):
            expected = await single(drawing, (steps, "continue", documents), inputs, place)
            assert report.status is expected.status
            assert {name: shown.status for name, shown in report.steps.items()} == {
                name: shown.status for name, shown in expected.steps.items()
            }
