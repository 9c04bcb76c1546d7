"""Only `dag/engine/transitions.py` changes a run's state; saved_state and retry build new ones. Read from the code."""

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import pytest

from docrail.dag.engine.state import Counters, FanState, ItemState, RunState, StepState, Traffic, Transfers, Turn
from docrail.dag.values.stored import Loading

ROOT = Path(__file__).parents[2]
ROOMS = ("dag", "workflows", "services")
BELOW = ("dag/language/", "dag/values/")
"""They lie below the engine, and know no run."""
WRITERS = frozenset(f"dag/engine/{name}.py" for name in ("transitions", "saved_state", "retry"))

PARTS = (RunState, StepState, FanState, ItemState, Counters, Turn, Transfers, Traffic, Loading)
FIELDS = frozenset(each.name for part in PARTS for each in fields(part))
COUNTING = frozenset({"move", "offer", "withdraw", "withdraw_all"})
"""The counters' own methods, which only transitions call."""
MUTATING = COUNTING | {
    *("append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse"),
    *("add", "discard", "update", "setdefault", "appendleft", "popleft"),
}
HEAP = frozenset({"heappush", "heappop", "heapify", "heapreplace", "heappushpop"})


def is_part(node: ast.expr, aliases: frozenset[str]) -> bool:
    """Whether the expression reads a field of the state: `run.steps[0]`, `self.state.paused`, or a name for one.

    `self.paused` is a field of the class that it stands in, which is another one.
    """
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute(value=value, attr=attr):
            return attr in FIELDS or is_part(value, aliases)
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return is_part(value, aliases)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(is_part(part, aliases) for part in parts)
        case ast.Name(id=name):
            return name in aliases
    return False


def aliases_in(function: ast.AST) -> frozenset[str]:
    """Names that a function gives to a part of the state: `heap = run.counters.ready`."""
    named = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    return frozenset(
        target.id
        for node in named
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Attribute) and is_part(node.value, frozenset())
    )


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns or deletes, without plain names: these are variables."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            found = targets
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AnnAssign(target=target, value=ast.expr()):
            found = [target]
        case _:
            found = []
    flat = [part for target in found for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [target for target in flat if not isinstance(target, ast.Name)]


def changes(node: ast.AST, aliases: frozenset[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in MUTATING:
            return is_part(value, aliases)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in HEAP:
            return is_part(first, aliases)
        case ast.Call(func=ast.Name(id="setattr"), args=[first, *_]):
            return not (isinstance(first, ast.Name) and first.id == "self")
    return any(is_part(target, aliases) for target in targets_of(node))


def writes_in(text: str) -> Iterator[str]:
    """Yield the lines that change a run's state."""
    lines, tree = text.splitlines(), ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    seen = set()
    for function in functions:
        aliases = aliases_in(function)
        for node in ast.walk(function):
            if changes(node, aliases) and isinstance(node, ast.stmt | ast.expr) and node.lineno not in seen:
                seen.add(node.lineno)
                yield lines[node.lineno - 1].strip()


def test_only_the_transitions_change_a_run() -> None:
    found = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name not in WRITERS and not name.startswith(BELOW) and (writes := list(writes_in(path.read_text()))):
                found[name] = writes
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "run.paused = True",
        "run.turn.spent += 1",
        "run.steps[0].status = StepStatus.FAILED",
        "run.steps[0], other = state, 1",
        "del run.transfers.loading[reader]",
        "run.fallen.append(0)",
        "run.transfers.loaded.update({})",
        "heappush(run.counters.ready, 1)",
        "run.counters.move(step, was, to)",
        "setattr(run, name, 1)",
        "self.state.traffic.history_events = 1",
        "heap = run.counters.ready; heap.append(1)",
        "for run.paused in (): pass",
    ],
)
def test_a_planted_write_is_found(planted: str) -> None:
    assert list(writes_in(f"def change(self, run):\n    {planted}\n")) == [planted]


def test_reading_and_own_fields_are_no_writes() -> None:
    assert not list(
        writes_in(
            dedent(
                """
                def read(self, run):
                    self.paused = run.paused
                    steps = [*run.steps]
                    steps.append(1)
                    return run.counters.ready[0]
                """
            )
        )
    )
