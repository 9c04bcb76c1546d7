"""Compare a simulated test with its expectations and list the differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from docrail.dag.explain.report import StepReport
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.test_cases import ExpectedStep, Trial
from docrail.dag.simulation.cues import Played
from docrail.dag.values.json_values import Json, canonical, shortened, size_of
from docrail.dag.values.problems import Path, path_text

MOST_DIFFERENCES = 20
"""Differences reported per test."""

LONGEST_SHOWN = 200
"""Characters of a value that a message shows."""

MOST_BYTES = 2_000
"""Bytes of JSON up to which the found value is reported whole; a larger one is shortened."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One deviation from a test's expectation. `path` is the JSON path of the expectation in the test."""

    path: str
    message: str
    expected: Json = None
    found: Json = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one test, which passed if there are no differences. `place`: its index in the definition."""

    place: int
    name: str
    differences: tuple[Difference, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is as expected."""
        return not self.differences


def assess(trial: Trial, place: int, played: Played) -> Verdict:
    """Compare a simulated test with its expectations."""
    if played.unsaid:
        unsaid = (Difference(path_text(("steps", step)), message) for step, message in played.unsaid.items())
        return Verdict(place, trial.name, tuple(islice(unsaid, MOST_DIFFERENCES)))
    return Verdict(place, trial.name, tuple(islice(_differences(trial, played), MOST_DIFFERENCES)))


def _differences(trial: Trial, played: Played) -> Iterator[Difference]:
    expect, report = trial.expect, played.report
    if expect.status != report.status:
        why = f": {report.reason}" if report.reason else ""
        message = f"expected the run to be {expect.status}, found {report.status}{why}"
        yield Difference("expect.status", message, expect.status, str(report.status))
    elif expect.reason is not None and expect.reason not in report.reason:
        yield _unlike(("expect", "reason"), f"a reason with {expect.reason!r} in it", expect.reason, report.reason)
    for step_id, expected in expect.steps.items():
        found = report.steps[step_id]
        found = found.model_copy(update={"output": played.memory.filled(found.output)})
        # A step that is cancelled while it starts may never receive its config.
        given = None if found.status is StepStatus.CANCELLED else played.given.get(step_id)
        yield from _of_step(("expect", "steps", step_id), expected, found, given)
    yield from _unlike_parts(("expect", "outputs"), expect.outputs, played.memory.filled(report.outputs))
    if expect.undone is not None and expect.undone != played.undone:
        message = f"expected undone: {_names(expect.undone)}; found {_names(played.undone)}"
        yield Difference("expect.undone", message, list(expect.undone), list(played.undone))
    yield from _unused_items(trial, played)


def _of_step(path: Path, expected: ExpectedStep, found: StepReport, given: Json) -> Iterator[Difference]:
    if expected.status is not None and expected.status != found.status:
        message = f"expected {expected.status}, found {found.status}{_why(found)}"
        yield Difference(path_text(path), message, expected.status, str(found.status))
        return  # the other differences follow from it
    reason = None if found.reason is None else str(found.reason)
    if expected.reason is not None and expected.reason != reason:
        yield _unlike((*path, "reason"), f"the reason {expected.reason}", str(expected.reason), reason)
    error = None if found.error is None else found.error.type
    if expected.error is not None and expected.error != error:
        yield _unlike((*path, "error"), f"the error {expected.error}", expected.error, error)
    if expected.branch is not None and expected.branch != found.branch:
        yield _unlike((*path, "branch"), f"the branch {expected.branch}", expected.branch, found.branch)
    if expected.config is not None and given is None:
        yield Difference(path_text((*path, "config")), "expected a config, found none: the step did not run")
    elif expected.config is not None:
        yield from _unlike_parts((*path, "config"), expected.config, given)
    if "output" in expected.model_fields_set:
        yield from _unlike_parts((*path, "output"), expected.output, found.output)


def _why(found: StepReport) -> str:
    if found.error is not None:
        return f" ({found.error.type}: {shortened(found.error.message, LONGEST_SHOWN)})"
    return f" ({found.reason or found.decided_by})" if found.reason or found.decided_by else ""


def _unlike_parts(path: Path, expected: Json, found: Json) -> Iterator[Difference]:
    """Yield the smallest parts that differ. An object may have more keys than expected."""
    match expected, found:
        case dict(), dict():
            for key, part in expected.items():
                if key in found:
                    yield from _unlike_parts((*path, key), part, found[key])
                else:
                    yield Difference(path_text((*path, key)), f"expected {_shown(part)}, found nothing", part)
        case list(), list() if len(expected) == len(found):
            for index, (part, other) in enumerate(zip(expected, found, strict=True)):
                yield from _unlike_parts((*path, index), part, other)
        case _ if not (isinstance(expected, bool) is isinstance(found, bool) and expected == found):  # 1 is not true
            message = f"expected {_shown(expected)}, found {_shown(found)}"
            yield Difference(
                path_text(path), message, expected, found if size_of(found) <= MOST_BYTES else _shown(found)
            )


def _unused_items(trial: Trial, played: Played) -> Iterator[Difference]:
    """Yield the mocked items that the list did not have: probably typos."""
    for step_id, mock in trial.steps.items():
        output = played.memory.filled(played.report.steps[step_id].output)
        if not mock.items or not isinstance(output, dict):
            continue
        keys = [item["key"] for item in output["items"]]
        for key in mock.items:
            if key not in keys:
                message = f"the list of step '{step_id}' has no item {key!r}; it has {_names(keys)}"
                yield Difference(path_text(("steps", step_id, "items", key)), message)


def _unlike(path: Path, what: str, expected: Json, found: Json) -> Difference:
    shown = found if isinstance(found, str) and found else "none"
    return Difference(path_text(path), f"expected {what}, found {shown}", expected, found)


def _names(names: Sequence[str]) -> str:
    return shortened(", ".join(names), LONGEST_SHOWN) if names else "none"


def _shown(value: Json) -> str:
    return shortened(canonical(value), LONGEST_SHOWN)
