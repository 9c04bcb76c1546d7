"""Draws valid definitions of every kind of step and every way to fail, with what becomes of each run on a real server.

A case of tests/dag says how a run has to end. Here it gets the words of an author, times that a test can wait for, and
all that makes no difference to its end: in which way work fails, retries, caches, undoing, deadlines, people.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from docrail.dag.language.definition import Definition, Step, to_json
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.validate import validate
from docrail.dag.values.json_values import Json
from tests.dag.catalogue import AnyConfig, AnyOutput, Models
from tests.dag.definitions import Case, cases, is_timer
from tests.dag.specification import work_name

FAST: dict[str, Json] = {"initial_delay": 0.05, "jitter": 0.2}
REFUSES, BREAKS_OFF, HANGS, STUMBLES = "refuses", "breaks off", "hangs", "stumbles"
"""Ways of work: bad data, which is not retried; a network that never comes back; no end; one failure, then success."""

KIN = 7
"""Hypothesis goes on from what it drew by small changes: so many in a row are much alike."""

HANG_SECONDS, LATE_SECONDS, PATIENT_SECONDS = 0.3, 0.3, 60
"""The time of an attempt that hangs, of a wait without an answer, and of one that is answered."""

GIVEN: dict[str, Json] = {"word": "soon", "number": 7, "zero": 0, "nothing": None}
"""A run's input. A validator cannot know what is in it, so it does not notice what cannot be resolved."""

AS_WRITTEN: Mapping[str, str] = {
    "inputs.missing": "inputs.given.missing",
    "'yes'": "inputs.given.word",
    "'text'": "inputs.given.word",
    "'soon'": "inputs.given.word",
    "none": "inputs.given.nothing",
    "2 + 3": "0.02 + 0.03",
}
"""What the specification's words are here."""

OTHER: dict[str, Json] = {
    "id": "other",
    "inputs": {"given": {"type": "object"}, "ends": {"type": "object"}, "asks": {"type": "boolean"}},
    "steps": [
        {"id": "nap", "wait": {"for": "timer", "seconds": 0.01}},
        {"id": "ask", "depends_on": ["nap"], "condition": "inputs.asks", "wait": {"for": "signal"}},
        {
            "id": "inner",
            "depends_on": ["ask"],
            "trigger_rule": "all_done",
            "handler": "work",
            "config": {"ends": "{{ inputs.ends }}"},
            "max_retries": 1,
            "retry_config": FAST,
            "heartbeat_seconds": 1,
        },
    ],
}
"""What drawn definitions nest; some of its runs wait."""


@dataclass(frozen=True)
class Drawn:
    """A definition as its author writes it, and what is done with its run."""

    name: str
    """How to draw it again."""
    case: Case
    """What the specification judges: the same definition in its words."""
    document: dict[str, Json]
    move: str | None
    """`pause`, with a resume after it, `abort`, or nothing."""
    undone: frozenset[str]
    """The steps that are undone if the run does not complete."""
    stays_done: frozenset[str]
    """Those with which that fails."""
    retried: frozenset[str]
    """Parked steps that a person has tried again before giving their output."""

    @property
    def stumbling(self) -> frozenset[str]:
        """The steps whose work fails once before it succeeds."""
        ends = {step["id"]: (step.get("workflow", {}).get("inputs") or step.get("config") or {}) for step in self.steps}
        return frozenset(name for name, given in ends.items() if STUMBLES in given.get("ends", {}).values())

    @property
    def steps(self) -> list[dict[str, Json]]:
        """The steps as their author writes them."""
        found: list[dict[str, Json]] = self.document["steps"]
        return found

    @property
    def unanswered(self) -> frozenset[str]:
        """The waiting steps that get no answer."""
        return self.case.overdue | self.case.lost


CATALOGUE = {"work": Models("work", AnyConfig, AnyOutput)}
_BITS = st.integers(0, 2**12 - 1)


def is_valid(document: Json) -> bool:
    """Return whether an author could submit it. What a case is drawn without is a reachable way out of each step."""
    return validate(document, None, CATALOGUE)[0] is not None


def drawn_by(number: int, count: int) -> list[Drawn]:
    """Return so many definitions: equal arguments give equal ones, with the same release of hypothesis."""
    found: list[Drawn] = []

    @seed(number)
    @settings(
        max_examples=count * KIN,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example],
    )
    @given(_drawn())
    def collect(drawn: Drawn) -> None:
        found.append(drawn)

    collect()
    names = (f"definition {place} of --drawn={count} --drawn-seed={number}" for place in range(count))
    return [replace(drawn, name=name) for name, drawn in zip(names, found[::KIN], strict=False)]


@st.composite
def _drawn(draw: st.DrawFn) -> Drawn:
    on_failure = draw(st.sampled_from(["continue", "continue", "fail_fast", "park"]))
    case = draw(cases(on_failure, aborts=on_failure != "park" and draw(st.booleans())))
    steps, of_run = case.definition.steps, draw(_BITS)
    by_step = {step.id: draw(_BITS) for step in steps}
    document = to_json(case.definition)
    document["inputs"] = {"given": {"type": "object"}}
    document["steps"] = [_authored(step, case, by_step[step.id]) for step in steps]
    if of_run & 3 == 0:
        document["deadline_seconds"] = 0.2
    assume(is_valid(document))
    move = draw(st.sampled_from([None, None, None, "pause", "abort"]))
    return Drawn(
        name="",
        case=case,
        document=document,
        move=move,
        undone=frozenset(step.id for step in steps if _is_undone(step, by_step[step.id])),
        stays_done=frozenset(name for name, each in by_step.items() if _stays_done(each)),
        retried=frozenset(name for name, each in by_step.items() if each & 1),
    )


def _authored(step: Step, case: Case, bits: int) -> dict[str, Json]:
    """Return the step with real work in it, and short times."""
    document: dict[str, Json] = _worded(to_json(Definition(id="tested", steps=(step,)))["steps"][0])
    ends = _ends(step, case, bits)
    match step.kind:
        case StepKind.HANDLER:
            document |= _of_handler(step, ends, bits) | {"config": {**document.get("config", {}), "ends": ends}}
        case StepKind.WORKFLOW:
            inputs = {"given": document["workflow"].get("inputs", {}), "ends": ends, "asks": bool(bits & 2)}
            document["workflow"] = {"id": "other", "inputs": inputs}
        case StepKind.WAIT | StepKind.HUMAN:
            kind = str(step.kind)
            document[kind] = _timed(step, document[kind], case, bits)
    if step.for_each and step.for_each.items == GIVEN["number"]:
        document["for_each"]["items"] = "{{ inputs.given.number }}"
    return document


def _worded(value: Json) -> Json:
    """Return what the specification's words are for an author; its odd values must not be seen by a validator."""
    match value:
        case dict():
            return {key: _worded(each) for key, each in value.items()}
        case list():
            return [_worded(each) for each in value]
        case str() if "{{" in value or value in AS_WRITTEN:
            for word, written in AS_WRITTEN.items():
                value = value.replace(word, written)
            return value
        case _:
            return value


def _ends(step: Step, case: Case, bits: int) -> dict[str, str]:
    """Return how the work of a step, or of its items, ends where it does not simply succeed."""
    may_hang = step.kind is StepKind.HANDLER and step.for_each is None  # else what is well had to be as quick
    lost = (REFUSES, BREAKS_OFF, HANGS if may_hang else BREAKS_OFF, REFUSES)[bits & 3]
    places: Iterable[int | None] = range(6) if step.for_each else [None]
    ends = {place: lost for place in places if work_name(step.id, place) in case.lost}
    if bits >> 2 & 3 == 0:
        ends = dict.fromkeys(places, STUMBLES) | ends
    return {"" if place is None else str(place): end for place, end in ends.items()}


def _of_handler(step: Step, ends: Mapping[str, str], bits: int) -> dict[str, Json]:
    """Return how a handler's step is limited, retried, kept and undone."""
    fields: dict[str, Json] = {"max_retries": 1, "retry_config": FAST, "heartbeat_seconds": 1}
    if HANGS in ends.values():
        fields |= {"total_timeout_seconds": HANG_SECONDS} if bits >> 4 & 1 else {"timeout_seconds": HANG_SECONDS}
    if _is_undone(step, bits):
        fields["compensate"] = {"handler": "work", "config": {"ends": {"": REFUSES} if _stays_done(bits) else {}}}
    elif step.for_each is None and bits >> 5 & 3 == 0:  # equal items would take each other's outputs
        fields["cache"] = {"ttl_seconds": 60}
    return fields


def _is_undone(step: Step, bits: int) -> bool:
    return step.kind is StepKind.HANDLER and step.for_each is None and bits >> 7 & 1 == 0


def _stays_done(bits: int) -> bool:
    return bits >> 9 & 3 == 0


def _timed(step: Step, waiting: dict[str, Json], case: Case, bits: int) -> dict[str, Json]:
    """Return a wait that takes no longer than a test can, and ends as it is said to."""
    if is_timer(step):
        if step.id in case.lost:  # nothing but its time can go wrong
            return waiting | {"seconds": "{{ inputs.given.word }}"}
        return waiting | {
            "seconds": {5: 0.05, 0: "{{ inputs.given.zero }}"}.get(waiting["seconds"], waiting["seconds"])
        }
    is_late, fails = step.id in case.overdue | case.lost, step.id in case.lost
    on_timeout = {"then": "fail"} if fails else waiting["on_timeout"]
    if is_late and step.human and bits >> 2 & 1:
        on_timeout = on_timeout | {"escalate_to": "managers"}
    waiting = waiting | {"timeout_seconds": LATE_SECONDS if is_late else PATIENT_SECONDS, "on_timeout": on_timeout}
    if step.human and bits >> 3 & 1:
        waiting["assignees"] = {"approvals": 2}
    if step.wait and bits >> 3 & 1:
        waiting["for"] = "webhook"
    return waiting
