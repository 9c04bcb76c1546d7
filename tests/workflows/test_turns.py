"""Runs that would take too much of one turn take several: Temporal gives a turn two seconds, and a message 4 MiB."""

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import STATE
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

ROWS: Json = [{"n": n, "amount": 1.5} for n in range(1_500)]
SHARE = "{{ item.amount / (inputs.rows | sum(attribute='amount')) }}"


async def test_a_long_list_whose_configs_take_much_work(fast: Bench) -> None:
    each = {"items": "{{ inputs.rows }}", "key": "item.n", "max_concurrency": 100}
    steps = [step("m", "noop", for_each=each, config={"share": SHARE})]
    report = await fast.run(steps, inputs={"rows": ROWS}, limits={"max_concurrency": 100})
    assert (report.status, report.reason) == (RunStatus.COMPLETED, "")


async def test_conditions_that_take_much_work_together(fast: Bench) -> None:
    """Hundreds of them, and each reads all rows."""
    condition = "(inputs.rows | map(attribute='n') | sum) > 0"
    steps = [step("a"), *(step(f"s{n}", depends_on=["a"], condition=condition) for n in range(300))]
    report = await fast.run(steps, inputs={"rows": ROWS}, limits={"max_concurrency": 100})
    assert (report.status, report.completed) == (RunStatus.COMPLETED, 301)


async def test_expressions_that_together_take_longer_to_compile_than_a_turn_has(fast: Bench) -> None:
    """10,000 of them take 5 s: a worker that compiled them all before a run's first step never got beyond that."""
    share = "{{{{ (a.rows | map(attribute='n') | sum) / {0} if a.sum > {0} else a.sum | default({0}) }}}}"
    readers = [
        step(f"s{n}", depends_on=["a"], condition=f"a.sum + {n} < 0", config={"v": list(map(share.format, range(5)))})
        for n in range(1_999)
    ]
    report = await fast.run([step("a", "rows", config={"count": 10}), *readers])
    assert (report.status, report.skipped) == (RunStatus.COMPLETED, 1_999)


async def test_keys_that_take_too_much_work_fail_their_step(bench: Bench) -> None:
    each = {
        "items": "{{ inputs.rows }}",
        "key": "item.n + (inputs.rows | length) + (inputs.rows | map(attribute='n') | sum)",
    }
    report = await bench.run([step("m", "noop", for_each=each)], inputs={"rows": ROWS})
    error = report.steps["m"].error
    assert error is not None
    assert "too much work" in error.message


async def test_many_steps_read_one_stored_value(bench: Bench) -> None:
    """Temporal lets a run have 2,000 activities at once."""
    readers = [step(f"s{n}", depends_on=["a"], condition="a.sum < 0") for n in range(2_100)]
    report = await bench.run([step("a", "rows", config={"count": 1_000}), *readers])
    assert (report.status, report.skipped) == (RunStatus.COMPLETED, 2_100)


async def test_many_steps_read_many_stored_values(bench: Bench) -> None:
    readers = [step(f"s{n}", depends_on=["a"], condition=f"a.rows[{n}].n < 0") for n in range(300)]
    report = await bench.run([step("a", "rows", config={"count": 1_000}), *readers])
    assert (report.status, report.skipped) == (RunStatus.COMPLETED, 300)


async def test_deferred_steps_begin_while_a_run_waits_only_for_people(bench: Bench) -> None:
    asks: list[dict[str, Json]] = [
        {"id": f"h{n}", "human": {"title": "?", "show": {"text": "{{ inputs.text }}"}}} for n in range(12)
    ]
    handle = await bench.start([*asks, step("a", "noop")], inputs={"text": "x" * 250_000})

    async def has_run() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["a"].status is StepStatus.COMPLETED and report.status is RunStatus.WAITING

    await eventually(has_run, "the step next to the questions")
    for ask in asks:
        await bench.answer(handle, ask["id"], "yes")
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED
