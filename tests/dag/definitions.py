"""Definitions for tests: a short way to write one, and hypothesis strategies that draw them."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st

from docrail.dag.language.definition import Definition, Dispatch, Limits, OnDeadline, OnFailure, Step, TriggerRule
from docrail.dag.language.step_kinds import WaitFor
from docrail.dag.values.json_values import Json
from tests.dag.specification import BREAKS, BY_NUMBER, DURATIONS, READS_ITEM, reads, watches, work_name

LAW = settings(derandomize=True, deadline=None, max_examples=3 * settings().max_examples, database=None)
"""Every law's settings: the same examples on every machine."""

MOST_STEPS = 12
MOST_ITEMS = 4


def step(step_id: str, *depends_on: str, **fields: Json) -> Step:
    """Return a step whose handler does not matter; any other kind's field makes it a step of that kind."""
    kinds = {"wait", "human", "workflow", "abort", "switch"}
    document = {"id": step_id, "depends_on": depends_on} | fields
    return Step.model_validate(document if kinds.intersection(fields) else document | {"handler": "work"})


def definition(*steps: Step, on_failure: str = "continue", on_deadline: Json = None, **limits: Json) -> Definition:
    """Return a definition of these steps; with `on_deadline`, it has a deadline."""
    late = (
        {} if on_deadline is None else {"deadline_seconds": 60, "on_deadline": OnDeadline.model_validate(on_deadline)}
    )
    return Definition(id="tested", steps=steps, on_failure=OnFailure(on_failure), limits=Limits(**limits), **late)


@dataclass(frozen=True)
class Case:
    """A definition, and what becomes of its work."""

    definition: Definition
    failing: frozenset[str]
    vanishing: frozenset[str]
    overdue: frozenset[str]
    early: frozenset[str]
    """Waiting steps that may be answered before they wait."""

    @property
    def lost(self) -> frozenset[str]:
        """Work that ends badly, whichever way."""
        return self.failing | self.vanishing


_RULES = st.sampled_from([TriggerRule.NONE_FAILED, *TriggerRule])
_KINDS = st.sampled_from([*("handler",) * 5, *("items",) * 3, "runs", "wait", "timer", "human", "switch", "workflow"])
_ENDS = st.sampled_from(["well", "well", "well", "well", "fails", "vanishes", "late"])
_CONDITIONS = st.sampled_from(["", "", "", "", "", "true", "1 > 2", "inputs.missing", "'yes'", "watches"])
_CONFIGS = st.sampled_from(["", "", "", "", "", "", "", "breaks", "reads"])
_BITS = st.integers(0, 2**MOST_STEPS - 1)
_STEPS = st.tuples(_BITS, _BITS, _RULES, st.booleans(), _CONDITIONS, _CONFIGS, _ENDS, _KINDS, _BITS)

picks = st.lists(st.integers(0, 11), max_size=12)
"""What a Picker picks."""

TAKEN = ("large", "small")
"""The ways out of a switch; `late` is that of a wait."""


@st.composite
def cases(draw: st.DrawFn, on_failure: str = "continue", *, surprises: bool = True, aborts: bool = False) -> Case:
    """Draw a definition of up to twelve steps, not in the order of their edges, and what becomes of their work.

    `surprises`: conditions and configs too, some of which cannot be evaluated. `aborts`: steps that end the run.
    """
    drawn = draw(st.lists(_STEPS, min_size=draw(st.integers(1, MOST_STEPS)), max_size=MOST_STEPS))
    steps: list[Step] = []
    ends: dict[str, str] = {}
    for number, (some, others, rule, optional, condition, config, end, kind, bits) in enumerate(drawn):
        parents = [parent for place, parent in enumerate(steps) if (some & others) >> place & 1]
        names = [parent.id for parent in parents]
        taken = _config(config, names) if surprises else {}
        steps.append(
            step(
                f"s{number}",
                *(_edge(parent, some ^ others ^ bits) for parent in parents),
                trigger_rule=rule if parents else TriggerRule.NONE_FAILED,
                optional=optional,
                condition=_condition(condition, names) if surprises else None,
                **_kind("abort" if aborts and bits % 7 == 0 else kind, bits, taken, surprises=surprises, aborts=aborts),
            )
        )
        ends |= _ends(steps[-1], end, bits)
    if draw(st.booleans()):
        steps.reverse()
    limits = {"dispatch": draw(st.sampled_from(Dispatch)), "max_concurrency": draw(st.integers(1, 4))}
    named = {end: frozenset(name for name, each in ends.items() if each == end) for end in ends.values()}
    lost = [named.get(end, frozenset()) for end in ("fails", "vanishes", "late", "early")]
    return Case(definition(*steps, on_failure=on_failure, **limits), *lost)


def _kind(kind: str, bits: int, config: dict[str, Json], *, surprises: bool, aborts: bool) -> dict[str, Json]:
    """Return the fields that say what a step does."""
    on_timeout = ["fail", "continue", {"branch": "late"}, "abort" if aborts else "fail"][bits % 4]
    late = {"timeout_seconds": 60, "on_timeout": on_timeout}
    items = _items(bits, config, surprises=surprises)
    seconds = list(DURATIONS)[(0, 0, 0, 1, 2, 3, 4)[bits % 7] if surprises else 0]
    fields: dict[str, dict[str, Json]] = {
        "handler": {"config": config},
        "items": items,
        "runs": items | {"workflow": {"id": "other", "inputs": items["config"]}},
        "wait": {"wait": {"for": "signal", **late}},
        "timer": {"wait": {"for": "timer", "seconds": seconds}},
        "human": {"human": {"show": config, **late}},
        "switch": {"switch": _cases(bits, surprises=surprises)},
        "workflow": {"workflow": {"id": "other", "inputs": config}},
        "abort": {"abort": {"reason": config.get("value", "enough")}},
    }
    return fields[kind]


def _items(bits: int, config: dict[str, Json], *, surprises: bool) -> dict[str, Json]:
    """Return a `for_each`: up to four items, some without the `n` that their key or config reads."""
    items: Json = [{"n": place} for place in range(bits % (MOST_ITEMS + 1))]
    key = BY_NUMBER if bits & 4 else None
    if surprises and bits & 64:
        items = items[:2] + [{}] * (bits >> 7 & 1) + items[2:] + items[1:2] * (bits >> 8 & 1)
    if surprises and bits % 32 == 9:
        items = ["{{ inputs.missing }}", 7, "{{ 'text' }}"][bits % 3]
    for_each = {
        "items": items,
        "key": key,
        "max_concurrency": 1 + (bits >> 3) % 3,
        "on_item_error": "fail_fast" if bits & 1 else "collect",
        "max_failures": (bits >> 5) % 3,
    }
    return {"for_each": for_each, "config": config or (READS_ITEM if bits & 2 else {})}


def _cases(bits: int, *, surprises: bool) -> list[Json]:
    odd = ["inputs.missing", "'yes'"] if surprises and bits % 16 == 5 else []
    conditions = [*odd, "1 > 2", "true"]
    reported = [{"when": conditions[bits % len(conditions)], "branch": TAKEN[bits >> 2 & 1]}]
    has_else = not surprises or bits % 16 != 4
    return [*reported, {"else": TAKEN[bits >> 4 & 1]}] if has_else else reported


def _edge(parent: Step, bits: int) -> str:
    """Return the edge to a parent: to one of its branches, or whichever way it took."""
    waiting = parent.wait or parent.human
    if parent.switch and bits % 3:
        return f"{parent.id}.{TAKEN[bits % 3 - 1]}"
    if waiting and waiting.on_timeout and waiting.on_timeout.branch and bits % 2:
        return f"{parent.id}.late"
    return parent.id


def is_timer(step: Step) -> bool:
    """Return whether a step waits for nothing but time."""
    return step.wait is not None and step.wait.for_ is WaitFor.TIMER


def _ends(step: Step, end: str, bits: int) -> dict[str, str]:
    """Return how the step's work ends: some items share what is drawn for their step."""
    if step.for_each:
        return {work_name(step.id, place): end if bits >> place & 1 else "well" for place in range(MOST_ITEMS + 2)}
    if (step.wait or step.human) and end == "well" and not is_timer(step):
        return {step.id: ["well", "early", "late"][bits % 3]}
    return {step.id: end}


def _condition(drawn: str, parents: Sequence[str]) -> str | None:
    if drawn == "watches":
        return watches(parents[0]) if parents else None
    return drawn or None


def _config(drawn: str, parents: Sequence[str]) -> dict[str, Json]:
    if drawn == "reads":
        return reads(parents[0]) if parents else {}
    return BREAKS if drawn == "breaks" else {}
