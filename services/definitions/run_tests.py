"""Run a definition's tests without a server, in bounded time: before publishing, and for `docrail test`."""

import time
from collections.abc import Iterator

from docrail.dag.language.definition import Definition
from docrail.dag.language.test_cases import Trial
from docrail.dag.simulation.cues import Played
from docrail.dag.simulation.simulate import Simulation
from docrail.dag.simulation.verdict import Difference, Verdict, assess
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.services.definitions.models import TrialResult
from docrail.services.errors import FailedTest

MOST_SECONDS = 10.0
"""Time limit in seconds for a definition's tests in a request: a thousand steps take a tenth of it."""


def run_trials(definition: Definition, catalogue: Catalogue, *, most_seconds: float = MOST_SECONDS) -> list[Verdict]:
    """Return a verdict for each of the definition's tests; tests that exceed the time limit fail."""
    deadline = time.monotonic() + most_seconds
    verdicts: list[Verdict] = []
    for place, trial in enumerate(definition.tests):
        played = _play(definition, trial, catalogue, deadline)
        if played is not None:
            verdicts.append(assess(trial, place, played))
        else:
            message = f"the tests take more than {most_seconds:g} s together: run this one with `docrail test`"
            verdicts.append(Verdict(place, trial.name, (Difference("", message),)))
    return verdicts


def _play(definition: Definition, trial: Trial, catalogue: Catalogue, deadline: float) -> Played | None:
    """Return what became of a test; None if it is not over at the deadline."""
    if time.monotonic() >= deadline:  # starting a run of thousands of steps takes a tenth of a second
        return None
    simulation = Simulation(definition, trial, catalogue)
    while simulation.turn():
        if time.monotonic() >= deadline:
            return None
    return simulation.played()


def results_of(definition: Definition, catalogue: Catalogue) -> list[TrialResult]:
    """Run the definition's tests, and return the result of each."""
    verdicts = run_trials(definition, catalogue)
    return [TrialResult(each.name, each.passed, tuple(_problems(each))) for each in verdicts]


def _problems(verdict: Verdict) -> Iterator[FailedTest]:
    for one in verdict.differences:
        path = f"tests[{verdict.place}]" + (f".{one.path}" if one.path else "")
        yield FailedTest(verdict.name, path, f"{verdict.name}: {one.message}", one.expected, one.found)
