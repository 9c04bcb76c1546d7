"""A real Temporal that skips time gives the same verdicts as the simulation."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from docrail.activities.registry import load_catalogue
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.language.test_cases import Trial
from docrail.dag.simulation.cues import Played
from docrail.dag.simulation.simulate import simulate
from docrail.dag.simulation.verdict import Verdict, assess
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json
from docrail.embedded.temporal import start_temporal
from docrail.services.definitions.service import SHIPPED
from tests.dag.definitions import LAW, MOST_ITEMS, Case, cases, is_timer
from tests.dag.specification import work_name
from tests.simulation import server as played
from tests.simulation.server import DYNAMIC_CONFIG, OffScriptError, TrialServer, trial_server
from tests.stack import eventually

pytestmark = pytest.mark.server

TESTED = Path(__file__).parent.parent / "dag" / "tested"
DRAWN = 25
"""Definitions, of each kind of failure handling."""
DRAWN_HANDLER = "work"
BOTH_WAYS = [*sorted(TESTED.glob("*.yaml")), SHIPPED / "customer_approval.yaml", SHIPPED / "payment_approval.yaml"]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TrialServer]:
    folder = tmp_path_factory.mktemp("skipping")
    temporal = await start_temporal(folder, 0, 0, report=print, dynamic_config=DYNAMIC_CONFIG)
    client = await Client.connect(temporal.address, data_converter=pydantic_data_converter)
    try:
        async with trial_server(client, {**load_catalogue(), DRAWN_HANDLER: None}) as server:
            yield server
    finally:
        await temporal.process.kill()


def read(path: Path) -> Definition:
    definition, problems = check_definition(path.read_text("utf-8"), load_catalogue())
    assert definition is not None, problems
    return definition


async def both_ways(server: TrialServer, definition: Definition) -> Sequence[tuple[Verdict, Verdict]]:
    """Return the verdicts on each test: simulated, and on the server."""
    verdicts = []
    for place, trial in enumerate(definition.tests):
        simulated = simulate(definition, trial, load_catalogue())
        on_server = await server.play(definition, trial, simulated)
        verdicts.append((assess(trial, place, simulated), assess(trial, place, on_server)))
    return verdicts


@pytest.mark.parametrize("path", BOTH_WAYS, ids=lambda path: path.stem)
async def test_both_ways_give_the_same_verdicts(server: TrialServer, path: Path) -> None:
    for simulated, on_server in await both_ways(server, read(path)):
        assert on_server == simulated


@pytest.mark.slow
@pytest.mark.parametrize("on_failure", ["continue", "fail_fast", "park"])
async def test_drawn_definitions_end_the_same_both_ways(server: TrialServer, on_failure: str) -> None:
    for case in draw(DRAWN, on_failure):
        trial = trial_of(case)
        simulated = simulate(case.definition, trial, load_catalogue())
        on_server = await server.play(case.definition, trial, simulated)
        assert end_of(on_server) == end_of(simulated), simulated.cues


def draw(count: int, on_failure: str) -> list[Case]:
    """Return cases that hypothesis draws, the same on every machine."""
    drawn: list[Case] = []

    @settings(LAW, max_examples=count, phases=[Phase.generate])
    @given(cases(on_failure=on_failure, aborts=True))
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    return drawn


def trial_of(case: Case) -> Trial:
    """Return a test that lets each step end as it was drawn; what is lost, for whatever reason, fails."""
    mocks: dict[str, Json] = {}
    for step in case.definition.steps:
        if step.kind in (StepKind.HANDLER, StepKind.WORKFLOW):
            failing = {str(place) for place in range(MOST_ITEMS + 2) if work_name(step.id, place) in case.lost}
            items = {"items": {key: {"failure": "Broken"} for key in failing}} if step.for_each else {}
            fails = step.id in case.lost and not step.for_each
            mocks[step.id] = {"failure": "Broken"} if fails else {"output": {"made_by": step.id}, **items}
        elif step.kind in (StepKind.WAIT, StepKind.HUMAN) and not is_timer(step):
            mocks[step.id] = {"times_out": True} if step.id in case.overdue else {"answer": {"answered": step.id}}
    return Trial.model_validate({"name": "drawn", "steps": mocks, "expect": {"status": "completed"}})


def end_of(run: Played) -> Json:
    """Return all that a test can see of a run."""
    untimed: Json = {"started_at": None, "ended_at": None, "duration_seconds": None}
    steps = {name: step.model_copy(update=untimed) for name, step in run.report.steps.items()}
    given = {name: config for name, config in run.given.items() if steps[name].status is not StepStatus.CANCELLED}
    return run.report.status, run.report.reason, run.report.outputs, run.undone, steps, given


async def test_values_that_are_stored_are_compared_too(server: TrialServer) -> None:
    many: Json = {"id": "many", "handler": "echo", "config": {"value": 1}, "for_each": {"items": [1, 2, 3]}}
    last: Json = {
        "id": "last",
        "handler": "echo",
        "depends_on": ["many"],
        "condition": "many.items[2].output.value | length > 5",
        "config": {"value": "{{ many.items[1].output.value }}"},
    }
    large = "x" * 40_000
    test = {
        "name": "it",
        "steps": {"many": {"output": {"value": large}}, "last": {"output": {"value": 1}}},
        "expect": {"status": "completed", "steps": {"last": {"config": {"value": large}}}},
    }
    definition = Definition.model_validate({"id": "large", "steps": [many, last], "tests": [test]})
    [(simulated, on_server)] = await both_ways(server, definition)
    assert simulated.passed
    assert on_server.passed


async def test_a_run_that_leaves_the_script_is_reported(server: TrialServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(played, "PATIENCE_SECONDS", 1.0)
    test = {"name": "it", "steps": {"a": {"output": {}}}, "expect": {"status": "completed"}}
    scripted = Definition.model_validate({"id": "x", "steps": [{"id": "a", "handler": "noop"}], "tests": [test]})
    waits = Definition.model_validate({"id": "x", "steps": [{"id": "a", "wait": {"for": "timer", "seconds": 60}}]})
    trial = scripted.tests[0]
    with pytest.raises(OffScriptError, match="did not happen within 1 s: step 'a' has to complete"):
        await server.play(waits, trial, simulate(scripted, trial, load_catalogue()))


async def test_nothing_is_left_over(server: TrialServer) -> None:
    definition = read(TESTED / "parked.yaml")
    await both_ways(server, definition)

    async def nothing_runs() -> bool:
        return not [run async for run in server.client.list_workflows("ExecutionStatus = 'Running'")]

    await eventually(nothing_runs, "a trial server without a run")
