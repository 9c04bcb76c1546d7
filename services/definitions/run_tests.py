"""Run a definition's tests without a server, in bounded time: before publishing, and for `docrail test`."""

import time
from collections.abc import Iterator, Sequence

from docrail.dag.language.definition import Definition
from docrail.dag.simulation.simulate import Simulation
from docrail.dag.simulation.verdict import Difference, Verdict, assess
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.services.errors import FailedTest, FailedTests

MOST_SECONDS = 10.0
"""Time limit in seconds for a definition's tests in a request: a thousand steps take a tenth of it."""


def run_trials(definition: Definition, catalogue: Catalogue, *, most_seconds: float = MOST_SECONDS) -> list[Verdict]:
    """Return a verdict for each of the definition's tests; tests that exceed the time limit fail."""
    deadline = time.monotonic() + most_seconds
    verdicts: list[Verdict] = []
    for place, trial in enumerate(definition.tests):
        simulation = Simulation(definition, trial, catalogue)
        is_over = False
        while time.monotonic() < deadline and not is_over:
            is_over = not simulation.turn()
        if is_over:
            verdicts.append(assess(trial, place, simulation.played()))
        else:
            message = f"the tests take more than {most_seconds:g} s together: run this one with `docrail test`"
            verdicts.append(Verdict(place, trial.name, (Difference("", message),)))
    return verdicts


def require_passed(definition: Definition, catalogue: Catalogue) -> None:
    """Run the definition's tests. Raises: FailedTests."""
    verdicts = run_trials(definition, catalogue)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if failed:
        raise FailedTests(len(failed), len(verdicts), [*_problems(failed)])


def _problems(failed: Sequence[Verdict]) -> Iterator[FailedTest]:
    for verdict in failed:
        for one in verdict.differences:
            path = f"tests[{verdict.place}]" + (f".{one.path}" if one.path else "")
            yield FailedTest(verdict.name, path, f"{verdict.name}: {one.message}", one.expected, one.found)
