"""`docrail test`: runs the tests in a definition's file, without a server."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from commands.asking import print_json
from commands.catalogue import all_handlers
from commands.definitions import File, load
from commands.speaking import say
from dag.definition import Definition
from dag.simulation import simulate
from dag.values import Json
from dag.verdict import Verdict, assess


def run_tests(
    file: File,
    names: Annotated[
        list[str] | None, typer.Option("--name", "-n", help="Run only the tests of this name.", metavar="NAME")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Run the tests in a definition's file.

    No server is started and nothing outside is called: the scheduler itself decides, the test says what a step's
    handler, its nested run or a person gives, and three days pass in milliseconds.

    Exit codes: 0 all passed, 1 one failed, or the file is not valid or has no tests, 2 wrong usage.

    Example: docrail test definitions/invoice.yaml
    """
    definition = load(file)
    chosen = _choose(file, definition, names or [])
    told = _nothing if as_json else _tell
    verdicts = [_simulated(definition, place, told) for place in chosen]
    passed = sum(verdict.passed for verdict in verdicts)
    if as_json:
        print_json(_as_json(definition, verdicts))
    else:
        print(f"{file}: {passed} of {len(verdicts)} test{'s' * (len(verdicts) != 1)} passed")
    if passed < len(verdicts):
        raise typer.Exit(1)


def _choose(file: Path, definition: Definition, names: Sequence[str]) -> list[int]:
    """Return the places of the tests to run. Raises: SystemExit, typer.BadParameter."""
    known = [trial.name for trial in definition.tests]
    if not known:
        raise SystemExit(f"{file} has no tests: expected a list under `tests`")
    for name in names:
        if name not in known:
            raise typer.BadParameter(
                f"{file} has no test {name!r}: expected one of {', '.join(map(repr, known))}", param_hint="--name"
            )
    return [place for place, name in enumerate(known) if not names or name in names]


def _simulated(definition: Definition, place: int, told: Callable[[Verdict], None]) -> Verdict:
    trial = definition.tests[place]
    verdict = assess(trial, place, simulate(definition, trial, all_handlers()))
    told(verdict)
    return verdict


def _tell(verdict: Verdict) -> None:
    say(f"{'ok' if verdict.passed else 'failed':<8}{verdict.name}")
    for one in verdict.differences:
        say(" " * 8 + (f"{one.path}: {one.message}" if one.path else one.message))


def _nothing(verdict: Verdict) -> None:
    """Say nothing of a verdict: JSON tells it with the others."""


def _as_json(definition: Definition, verdicts: Sequence[Verdict]) -> dict[str, Json]:
    tests = [
        {"name": one.name, "passed": one.passed, "differences": [asdict(each) for each in one.differences]}
        for one in verdicts
    ]
    return {"definition_id": definition.id, "passed": all(one.passed for one in verdicts), "tests": tests}
