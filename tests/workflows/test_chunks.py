"""Long lists on the real server: thousands of items in chunks that fail, stop and pause as one list."""

import uuid
from dataclasses import replace
from pathlib import Path

from docrail.dag.engine.events import ChunkItem, StartChunk
from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.engine.plan import SEMANTICS, plan_of
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS, MAX_ITEMS
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json
from docrail.workflows.contract.names import ABORT, PAUSE, RESOLVE, RESUME, STATE, RunRequest
from docrail.workflows.map_chunk_client import of_items
from tests.stack import eventually
from tests.workflows.conftest import Bench, step, tools_in, work

SOME = CHUNK_ITEMS + 50
SUM = "{{ m['items'] | map(attribute='output.n') | sum }}"
LIMITS = {"max_concurrency": 100}


def mapped(handler: str = "echo", **fields: Json) -> dict[str, Json]:
    for_each = {"items": "{{ inputs.items }}", "max_concurrency": 100} | fields.pop("for_each", {})
    config = {"n": "{{ item }}"} if handler == "echo" else {}
    return step("m", handler, for_each=for_each, config=config, **fields)


async def test_ten_thousand_items(bench: Bench) -> None:
    handle = await bench.start(
        [
            mapped(for_each={"items": "{{ inputs.items }}"}),
            step(
                "sum",
                "echo",
                depends_on=["m"],
                config={"of": "{{ m.completed }}", "last": "{{ m['items'][9999].key }}"},
            ),
        ],
        inputs={"items": list(range(MAX_ITEMS))},
        limits=LIMITS,
    )
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED, report.reason
    assert report.steps["sum"].output == {"of": MAX_ITEMS, "last": "9999"}
    history = await handle.fetch_history()
    assert len(history.events) < 2_000


async def test_the_items_of_a_long_list_give_what_those_of_a_short_one_do(bench: Bench) -> None:
    handle = await bench.start(
        [mapped(), step("sum", "echo", depends_on=["m"], config={"of": SUM})],
        inputs={"items": list(range(SOME))},
        limits=LIMITS,
    )
    report = await bench.finish(handle)
    assert report.steps["sum"].output == {"of": sum(range(SOME))}
    assert sorted(bench.gates.calls) == ["m"] * SOME + ["sum"]
    await bench.replay(bench.client.get_workflow_handle(f"{handle.id}~m~~0"), "_first_chunk")


async def test_items_that_take_long_hold_only_their_own_places(bench: Bench) -> None:
    """Three of them fill all places of the first chunk, whose other items run in places that come free elsewhere."""
    long = [0, 1, 2, 150, SOME - 1]
    bench.gates.held.extend(f"m[{item}]" for item in long)
    handle = await bench.start(
        [mapped("hold", for_each={"max_concurrency": 10})],
        inputs={"items": list(range(SOME))},
        limits={"max_concurrency": 10},
    )

    async def others_ended() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["m"].items == ItemCounts(total=SOME, completed=SOME - 5, failed=0, running=5)

    await eventually(others_ended, "all other items have completed", timeout_seconds=90)
    for item in long:
        bench.gates.opened[f"m[{item}]"].set()
    report = await bench.finish(handle)
    assert report.steps["m"].items == ItemCounts(total=SOME, completed=SOME, failed=0, running=0)
    assert len(bench.gates.calls) == SOME
    await bench.replay(bench.client.get_workflow_handle(f"{handle.id}~m~~0"), "_first_chunk")


async def test_the_failed_items_of_a_parked_long_list_run_again(bench: Bench) -> None:
    bench.gates.failing.extend(["m[7]", f"m[{SOME - 1}]"])
    handle = await bench.start(
        [mapped("work", max_retries=0)], inputs={"items": list(range(SOME))}, limits=LIMITS, on_failure="park"
    )

    async def is_parked() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["m"].status is StepStatus.PARKED

    await eventually(is_parked, "the list is parked", timeout_seconds=60)
    await eventually(lambda: bool(bench.gates.letters), "the inbox hears of it")
    assert [letter.error_message for letter in bench.gates.letters] == [
        f"2 of {SOME} items failed: 7, {SOME - 1}; 7: drawn to fail"
    ]
    bench.gates.failing.clear()
    await handle.execute_update(RESOLVE, args=["m", "retry", None, "ann"])
    report = await bench.finish(handle)
    assert (report.status, report.steps["m"].attempts) == (RunStatus.COMPLETED, 2)


async def test_items_of_a_parked_long_list_are_given_configs_in_its_chunks(bench: Bench) -> None:
    """So many fail that those that run again do so in chunks, too."""
    handle = await bench.start(
        [mapped("flaky", max_retries=0) | {"config": {"times": 9}}],
        inputs={"items": list(range(SOME))},
        limits=LIMITS,
        on_failure="park",
    )

    async def is_parked() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["m"].status is StepStatus.PARKED

    await eventually(is_parked, "the list is parked", timeout_seconds=90)
    given: Json = {str(item): {"config": {"times": 0}} for item in range(SOME - 1)}
    await handle.execute_update(RESOLVE, args=["m", "items", given | {str(SOME - 1): {"skip": True}}, "ann"])
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    assert report.steps["m"].items == ItemCounts(total=SOME, completed=SOME - 1, failed=0, running=0, skipped=1)


async def test_errors_of_any_content_travel(bench: Bench) -> None:
    """A control character takes six bytes as JSON, and a chunk's report may have two million."""
    text = "\x01" * (LONGEST_MESSAGE - 10)
    each = {"items": list(range(SOME)), "max_concurrency": 100}
    failing = step("m", "bad", for_each=each, config={"message": "{{ inputs.text }}"}, max_retries=0)
    report = await bench.run([failing], inputs={"text": text}, limits=LIMITS)
    assert report.steps["m"].error is not None
    assert f"{SOME} of {SOME} items failed" in report.steps["m"].error.message


def test_a_chunk_carries_what_is_kept_of_its_own_items() -> None:
    inner: dict[str, Json] = {"id": "m", "for_each": {"items": "{{ inputs.items }}"}, "workflow": {"id": "inner"}}
    document = to_json(Definition.model_validate({"id": "test", "steps": [inner]}))
    names = ["test.k~m~1", "test.k~m~1~call", "test.k~m~10", "test.k~m~10~call", "test.k~n~1"]
    request = RunRequest(
        tenant_id="default",
        run_id="test.k",
        definition=document,
        version=1,
        digest="",
        inputs={},
        semantics=SEMANTICS,
        resumed_inner={name: {} for name in names},
    )
    command = StartChunk("m", (ChunkItem(0, "0", {}), ChunkItem(1, "1", {})), 1, None)
    assert list(of_items(request, plan_of(document).step("m"), command).resumed_inner) == names[:2]


async def _running(bench: Bench) -> None:
    await eventually(bench.gates.began["m"].is_set, "items run", timeout_seconds=60)


async def test_an_abort_stops_the_items_of_chunks(bench: Bench) -> None:
    handle = await bench.start(
        [mapped("gate", heartbeat_seconds=1)], inputs={"items": list(range(SOME))}, limits=LIMITS
    )
    await _running(bench)
    await handle.execute_update(ABORT, args=["enough"])
    report = await bench.finish(handle)
    assert (report.status, report.steps["m"].status) == (RunStatus.ABORTED, StepStatus.CANCELLED)
    await bench.replay(bench.client.get_workflow_handle(f"{handle.id}~m~~0"), "_first_chunk")


async def test_a_pause_reaches_the_chunks(bench: Bench) -> None:
    handle = await bench.start([mapped("gate")], inputs={"items": list(range(SOME))}, limits={"max_concurrency": 4})
    await _running(bench)
    await handle.execute_update(PAUSE)
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    assert report.status is RunStatus.PAUSED
    bench.gates.opened["m"].set()
    await handle.execute_update(RESUME)
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    await bench.replay(bench.client.get_workflow_handle(f"{handle.id}~m~~0"), "_first_chunk")


async def test_nested_runs_in_chunks(bench: Bench, tmp_path: Path) -> None:
    inner = {
        "id": "inner",
        "inputs": {"x": {"type": "integer"}},
        "steps": [step("a", "noop")],
        "outputs": {"y": "{{ inputs.x }}"},
    }
    each = {"items": "{{ inputs.items }}", "key": "item", "max_concurrency": 50}
    steps = [{"id": "m", "for_each": each, "workflow": {"id": "inner", "inputs": {"x": "{{ item }}"}}}]
    fast = replace(bench, task_queue=f"test-{uuid.uuid4().hex}")
    async with work(bench.client, fast.task_queue, bench.gates, tools_in(tmp_path), sandboxed=False):
        handle = await fast.start(
            steps,
            inputs={"items": list(range(SOME))},
            nested=[inner],
            outputs={"sum": "{{ m['items'] | map(attribute='output.y') | sum }}"},
        )
        report = await handle.result()
    assert report.outputs == {"sum": sum(range(SOME))}
