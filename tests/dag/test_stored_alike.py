"""A stored output reads as one that the run carries itself: the same values and failures, whatever is asked of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docrail.dag.engine.events import Finish, Load, Loaded, RunStarted, Start
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import RunState
from docrail.dag.engine.transitions import advance
from docrail.dag.simulation.value_store import Memory
from docrail.dag.values.json_values import Json
from tests.dag.definitions import LAW, definition, step
from tests.dag.kinds import done

VALUES: list[Json] = [
    {"r": [{"id": 7}], "q": 3},
    {"r": {"id": 7}, "q": "text"},
    {"r": [5, 6], "q": None},
    {"r": {"1": "a", "0": {"id": 2}}},
    {"r": "abc"},
    {"r": None},
    {"r": []},
    {"r": {}},
    [1, {"r": 2}],
    [],
    {},
    {"r": [[1, 2], {"id": [3]}], "q": 1.5},
]

EXPRESSIONS = [
    "a.r[0].id if a.r[0] is defined else a.r.id",
    "a.r.id if a.r.id is defined else a.r[0].id",
    "a.r.id | default(a.r[0].id)",
    "a.r[0].id | default(a.r.id)",
    "a.r.id | default(3)",
    "a.r['1'] | default(9)",
    "a.r['1'] + 1",
    "a.r[0] + 1",
    "a.r[0] | default('no')",
    "a.r[3] | default(a.r[1]) | default(0)",
    "a.r[-1] | default('none')",
    "a.r | length",
    "a.q is defined and a.q is none",
    "[a.q | default(0), a.r | default(0)]",
    "a.r is defined",
    "a.r.x.y | default('deep')",
    "a | length",
    "a[0] | default(a.r)",
    "steps.a.output.r | default(1)",
    "steps.a.output.r[0].id | default(2)",
    "steps.a.status == 'completed' and a.q == 3",
    "a.r | list | first | default('empty')",
    "'x' if a.r == 'abc' else a.r | length",
    "a.r.keys is defined",
]


class Stored:
    """A run whose step `a` gave `value`, stored or not, and what came of its step `b`."""

    def __init__(self, value: Json, text: str, *, is_stored: bool, **fields: Json) -> None:
        steps = (step("a"), step("b", "a", **(fields or {"config": {"x": text}})))
        self.plan = compile_plan(definition(*steps))
        self.run: RunState = begin(self.plan, {}, {})
        self.memory, self.loads = Memory(), 0
        advance(self.plan, self.run, RunStarted(1.0))
        waiting = advance(self.plan, self.run, done("a", self.memory.put(value) if is_stored else value))
        self.started: Json = None
        while waiting:
            command = waiting.pop(0)
            match command:
                case Load(name, parts, may_stay):
                    self.loads += 1
                    assert self.loads < 10, "it loads for ever"
                    pieces = [self.memory.find(part, may_stay=number in may_stay) for number, part in enumerate(parts)]
                    waiting += advance(self.plan, self.run, Loaded(name, tuple(pieces), 9.0 + self.loads))
                case Start(_, config):
                    self.started = self.memory.filled(config)
                case Finish():
                    pass

    @property
    def outcome(self) -> Json:
        state = self.run.steps[self.plan.index["b"]]
        return [state.status, state.error.type if state.error else None, self.started, state.output]


def alike(value: Json, text: str, **fields: Json) -> None:
    carried, stored = (Stored(value, text, is_stored=is_stored, **fields) for is_stored in (False, True))
    assert stored.outcome == carried.outcome


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_reads_both_alike(expression: str) -> None:
    for value in VALUES:
        alike(value, f"{{{{ {expression} }}}}")
        alike(value, f"it is {{{{ {expression} }}}}")
        alike(value, "", condition=f"({expression}) == 7")
        alike(value, "", switch=[{"when": f"({expression}) == 7", "branch": "seven"}, {"else": "other"}])


PARTS = ["", ".r", ".q", "[0]", "[1]", "['1']", ".id", "['r']", "[-1]"]
FORMS = ["{} | default('d')", "{} is defined", "{} + 1", "{} | length", "({} | default(0)) == 7", "[{}, {}]"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "abc", "7"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("rq01") | st.just("id"), inner, max_size=3)
    ),
    max_leaves=8,
)
paths = st.lists(st.sampled_from(PARTS), max_size=3).map(lambda parts: "a" + "".join(parts))
expressions = st.builds(lambda form, one, two: form.format(one, two), st.sampled_from(FORMS), paths, paths)


@given(values, expressions, expressions)
@settings(max_examples=LAW.max_examples)
def test_any_expression_reads_any_value_alike(value: Json, one: str, two: str) -> None:
    alike(value, f"{{{{ {one} }}}}")
    alike(value, f"{{{{ {one} }}}} {{{{ {two} }}}}")
