"""The tables of `dag/engine/transitions.py` are complete, and a pair that is not in them changes nothing."""

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import pytest

from docrail.dag.engine.counters import rebuild
from docrail.dag.engine.events import (
    Answered,
    Chunk,
    ChunkEnded,
    ChunkThinned,
    Event,
    NotStored,
    Resolution,
    ResolutionKind,
    Resolved,
    RunEvent,
    StepCancelled,
    StepCompleted,
    StepEvent,
    StepFailed,
    Stored,
    TimedOut,
    Undo,
    WorkerLost,
)
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import Answer, StepError
from docrail.dag.engine.transitions import RUN, STEP, UNDO, advance
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import SETTLED, StepStatus

ERROR = StepError("Broken", "broke")
EVENTS: Mapping[type, Event] = {
    StepCompleted: StepCompleted("a", {}, 1, 9.0),
    StepFailed: StepFailed("a", ERROR, 1, 9.0),
    StepCancelled: StepCancelled("a", 9.0),
    ChunkEnded: ChunkEnded("a", Chunk(0), (), 9.0),
    ChunkThinned: ChunkThinned("a", Chunk(0), 1, 0, 0, 9.0),
    WorkerLost: WorkerLost("a", (), 0, None, 9.0),
    Answered: Answered("a", Answer("yes"), 9.0),
    TimedOut: TimedOut("a", 9.0),
    Resolved: Resolved("a", Resolution(ResolutionKind.SKIP), 9.0),
    Stored: Stored("a", None, 9.0),
    NotStored: NotStored("a", ERROR, 9.0),
}
NOT_IN_TABLE = [(status, kind) for status in StepStatus for kind in EVENTS if (status, kind) not in STEP]


def test_every_event_has_a_transition() -> None:
    assert {kind for _, kind in STEP} == set(get_args(StepEvent)) == set(EVENTS)
    assert set(RUN) == set(get_args(RunEvent))


def test_no_event_changes_a_settled_step() -> None:
    assert not [status for status, _ in STEP if status in SETTLED]
    assert {status for status, _ in UNDO} == {StepStatus.RUNNING}


def event_types(change: Any) -> set[type]:
    taken = list(get_type_hints(change).values())[-2]  # the last one is what it returns
    return set(get_args(taken)) or {taken}


def test_each_transition_takes_its_event() -> None:
    rows: list[tuple[type, Any]] = [*((kind, change) for (_, kind), change in STEP.items()), *RUN.items()]
    assert [(kind, change) for kind, change in rows if kind not in event_types(change)] == []


@pytest.mark.parametrize(("status", "kind"), NOT_IN_TABLE, ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_pair_that_is_not_in_the_table_changes_nothing(status: StepStatus, kind: type) -> None:
    steps = [{"id": "a", "human": {"title": "?"}}, {"id": "b", "handler": "noop"}]
    plan = compile_plan(Definition.model_validate({"id": "late", "steps": steps}))
    begun = {"inputs": {}, "context": {}, "paused": True, "steps": {"a": {"status": status}, "b": {}}}
    run = load(plan, begun)
    before = save(plan, run)
    assert advance(plan, run, EVENTS[kind]) == []
    assert save(plan, run) == before
    assert run.counters == rebuild(plan, run)


@pytest.mark.parametrize("kind", [StepCompleted, StepFailed, StepCancelled])
@pytest.mark.parametrize("compensation", [None, *(each for each in StepStatus if each is not StepStatus.RUNNING)])
def test_a_compensation_that_does_not_run_does_not_end(kind: type, compensation: StepStatus | None) -> None:
    steps = [{"id": "a", "handler": "noop", "compensate": {"handler": "noop"}}, {"id": "b", "handler": "noop"}]
    plan = compile_plan(Definition.model_validate({"id": "late", "steps": steps}))
    done = {"status": StepStatus.COMPLETED, "compensation": compensation}
    run = load(plan, {"inputs": {}, "context": {}, "steps": {"a": done, "b": {"status": StepStatus.RUNNING}}})
    before, event = save(plan, run), EVENTS[kind]
    undone: Any = type(event)(**{name: getattr(event, name) for name in event.__slots__} | {"part": Undo()})
    assert advance(plan, run, undone) == []
    assert save(plan, run) == before


def test_an_event_about_an_unknown_step_changes_nothing() -> None:
    plan = compile_plan(Definition.model_validate({"id": "late", "steps": [{"id": "b", "handler": "noop"}]}))
    run = load(plan, {"inputs": {}, "context": {}, "steps": {}})
    before = save(plan, run)
    assert [advance(plan, run, event) for event in EVENTS.values()] == [[]] * len(EVENTS)
    assert save(plan, run) == before
