"""Definitions for tests: a short way to write one, and hypothesis strategies that draw them."""

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st

from dag.definition import Definition, Dispatch, Limits, OnFailure, Step, TriggerRule
from dag.values import Json
from tests.dag.specification import BREAKS, reads, watches

LAW = settings(derandomize=True, deadline=None, max_examples=300, database=None)
"""Every law's settings: the same examples on every machine."""

MOST_STEPS = 12


def step(step_id: str, *depends_on: str, **fields: Json) -> Step:
    """Return a step whose handler does not matter."""
    return Step(id=step_id, handler="work", depends_on=depends_on, **fields)


def definition(*steps: Step, on_failure: str = "continue", **limits: Json) -> Definition:
    """Return a definition of these steps."""
    return Definition(id="tested", steps=steps, on_failure=OnFailure(on_failure), limits=Limits(**limits))


@dataclass(frozen=True)
class Case:
    """A definition, and which of its steps fail."""

    definition: Definition
    failing: frozenset[str]
    vanishing: frozenset[str]

    @property
    def lost(self) -> frozenset[str]:
        """Steps that end badly, whichever way."""
        return self.failing | self.vanishing


_RULES = st.sampled_from([TriggerRule.NONE_FAILED, *TriggerRule])
_ENDS = st.sampled_from(["well", "well", "well", "well", "fails", "vanishes"])
_CONDITIONS = st.sampled_from(["", "", "", "", "", "true", "1 > 2", "inputs.missing", "'yes'", "watches"])
_CONFIGS = st.sampled_from(["", "", "", "", "", "", "", "breaks", "reads"])
_PARENTS = st.integers(0, 2**MOST_STEPS - 1)
_STEPS = st.tuples(_PARENTS, _PARENTS, _RULES, st.booleans(), _CONDITIONS, _CONFIGS, _ENDS)

picks = st.lists(st.integers(0, 11), max_size=12)
"""What a Picker picks."""


@st.composite
def cases(draw: st.DrawFn, on_failure: str = "continue", *, surprises: bool = True) -> Case:
    """Draw a definition of up to twelve steps, not in the order of their edges, and which of them fail.

    `surprises`: conditions and configs too, some of which cannot be evaluated.
    """
    drawn = draw(st.lists(_STEPS, min_size=draw(st.integers(1, MOST_STEPS)), max_size=MOST_STEPS))
    steps: list[Step] = []
    ends: dict[str, str] = {}
    for number, (some, others, rule, optional, condition, config, end) in enumerate(drawn):
        parents = [f"s{parent}" for parent in range(number) if (some & others) >> parent & 1]
        steps.append(
            step(
                f"s{number}",
                *parents,
                trigger_rule=rule if parents else TriggerRule.NONE_FAILED,
                optional=optional,
                condition=_condition(condition, parents) if surprises else None,
                config=_config(config, parents) if surprises else {},
            )
        )
        ends[f"s{number}"] = end
    if draw(st.booleans()):
        steps.reverse()
    return Case(
        definition(
            *steps,
            on_failure=on_failure,
            dispatch=draw(st.sampled_from(Dispatch)),
            max_concurrency=draw(st.integers(1, 4)),
        ),
        frozenset(name for name, end in ends.items() if end == "fails"),
        frozenset(name for name, end in ends.items() if end == "vanishes"),
    )


def _condition(drawn: str, parents: list[str]) -> str | None:
    if drawn == "watches":
        return watches(parents[0]) if parents else None
    return drawn or None


def _config(drawn: str, parents: list[str]) -> dict[str, Json]:
    if drawn == "reads":
        return reads(parents[0]) if parents else {}
    return BREAKS if drawn == "breaks" else {}
