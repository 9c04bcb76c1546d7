"""`docrail validate` and `docrail definition schema`: check definitions without a server."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.catalogue import all_handlers, handlers_by_name
from docrail.cli.files import files_in, read_file
from docrail.cli.terminal import AlwaysJson, AsJson, print_json, say, say_unfolded
from docrail.dag.language.definition import Definition
from docrail.dag.language.rates import DEFAULT_LIMITS, fleet_limits
from docrail.dag.language.source.source import MAX_SOURCE_BYTES
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem, render

File = Annotated[Path, typer.Argument(help="A definition, as YAML or JSON.", metavar="FILE")]

SUFFIXES = (".yaml", ".yml", ".json")
"""Files in a folder that are taken for definitions."""


def validate(
    paths: Annotated[list[Path], typer.Argument(help="Definitions, and folders of them.", metavar="PATH")],
    as_json: AsJson = False,
    resource_limits: Annotated[
        str,
        typer.Option(
            help="The resource tags that steps may have, with their limits.",
            envvar="DOCRAIL_RESOURCE_LIMITS",
            metavar="TAG=RATE,...",
        ),
    ] = DEFAULT_LIMITS,
) -> None:
    """Check definitions and print every problem in them.

    Each line is FILE:LINE:COLUMN: SEVERITY CODE: MESSAGE, as compilers write it. Folders are searched for .yaml, .yml
    and .json files. Needs no server.

    Exit codes: 0 all valid, 1 one is not valid or cannot be read, 2 wrong usage.

    Example: docrail validate definitions/
    """
    try:
        tags = fleet_limits(resource_limits)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--resource-limits") from None
    reports: list[dict[str, Json]] = []
    for file in _files(paths):
        definition, problems = check_definition(read(file), handlers_by_name(), tags)
        found = [asdict(problem) for problem in problems]
        reports.append({"file": str(file), "valid": definition is not None, "problems": found})
        if not as_json:
            say_unfolded("\n".join(_lines(file, definition, problems)))
    valid = sum(report["valid"] for report in reports)
    if as_json:
        print_json(reports)
    elif len(reports) > 1:
        say(f"{len(reports)} files, {valid} valid")
    if valid < len(reports):
        raise typer.Exit(1)


def schema(as_json: AlwaysJson = True) -> None:  # noqa: ARG001
    """Print the JSON Schema of a definition, for editors.

    Editors complete and check with it while you type: in a YAML file, point `# yaml-language-server: $schema=` to it.
    It has every handler. `docrail validate` also finds what no schema can express. Needs no server.

    Example: docrail definition schema > docrail.schema.json
    """
    from docrail.dag.validation.definition_schema import definition_schema

    print_json(definition_schema(all_handlers()))


def read(file: Path, expected: str = "a definition, as YAML or JSON") -> bytes:
    """Return a file's content, at most a byte more than a definition may have. Raises: SystemExit."""
    return read_file(file, expected, at_most=MAX_SOURCE_BYTES + 1)


def load(file: Path) -> Definition:
    """Return the definition in `file`. Raises: SystemExit with all its problems if it has errors."""
    definition, problems = check_definition(read(file), handlers_by_name())
    if definition is None:
        raise SystemExit("\n".join([f"{file} is not valid", *_lines(file, definition, problems)]))
    return definition


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and those in folders by name. Raises: SystemExit for a folder that has none."""
    for path in paths:
        inside = files_in(path, SUFFIXES) if path.is_dir() else [path]
        if not inside:
            raise SystemExit(f"the folder {path} has no definition: looked for {', '.join(SUFFIXES)}")
        yield from inside


def _lines(file: Path, definition: Definition | None, problems: Sequence[Problem]) -> Iterator[str]:
    """Yield each problem, then the verdict."""
    yield from (render(problem, str(file)) for problem in problems)
    found = Counter(problem.severity for problem in problems)
    counts = [count_of(found[severity], severity) for severity in ("error", "warning") if found[severity]]
    if definition is not None:
        counts = ["valid", count_of(len(definition.steps), "step"), *counts]
    yield f"{file}: {', '.join(counts)}"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"
