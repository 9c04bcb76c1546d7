"""`docrail test`: run the tests in a definition's file, without a server."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.catalogue import all_handlers
from docrail.cli.definitions import File, load
from docrail.cli.terminal import AsJson, coloured, expected_one_of, print_json, say
from docrail.dag.language.definition import Definition
from docrail.dag.simulation.simulate import simulate
from docrail.dag.simulation.verdict import Verdict, assess
from docrail.dag.values.json_values import Json


def run_tests(
    file: File,
    names: Annotated[
        list[str] | None, typer.Option("--name", "-n", help="Run only the tests of this name.", metavar="NAME")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the tests in a definition's file; needs no server.

    Time is simulated: three days pass in milliseconds. Nothing outside is called: the test gives what handlers, nested
    runs and people return.

    Exit codes: 0 all passed, 1 one failed, or the file is not valid or has no tests, 2 wrong usage.

    Example: docrail test definitions/invoice.yaml
    """
    definition = load(file)
    verdicts = []
    for place in _choose(file, definition, names or []):
        trial = definition.tests[place]
        verdicts.append(assess(trial, place, simulate(definition, trial, all_handlers())))
        if not as_json:
            _print(verdicts[-1])
    passed = sum(verdict.passed for verdict in verdicts)
    if as_json:
        print_json(_as_json(definition, verdicts))
    else:
        say(f"{file}: {passed} of {len(verdicts)} test{'s' * (len(verdicts) != 1)} passed")
    if passed < len(verdicts):
        raise typer.Exit(1)


def _choose(file: Path, definition: Definition, names: Sequence[str]) -> list[int]:
    """Return the places of the tests to run. Raises: SystemExit, typer.BadParameter."""
    known = [trial.name for trial in definition.tests]
    if not known:
        raise SystemExit(f"{file} has no tests: expected a list under `tests`")
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"{file} has no test {name!r}{expected_one_of(name, known)}", param_hint="--name")
    return [place for place, name in enumerate(known) if not names or name in names]


def _print(verdict: Verdict) -> None:
    status = "ok" if verdict.passed else "failed"
    say(f"{coloured(status)}{' ' * (8 - len(status))}{verdict.name}")
    for one in verdict.differences:
        say(" " * 8 + (f"{one.path}: {one.message}" if one.path else one.message))


def _as_json(definition: Definition, verdicts: Sequence[Verdict]) -> dict[str, Json]:
    tests = [
        {"name": one.name, "passed": one.passed, "differences": [asdict(each) for each in one.differences]}
        for one in verdicts
    ]
    return {"definition_id": definition.id, "passed": all(one.passed for one in verdicts), "tests": tests}
