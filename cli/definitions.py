"""`docrail validate`: check definitions without a server."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.catalogue import handlers_by_name
from docrail.cli.terminal import AsJson, print_json
from docrail.dag.language.definition import Definition
from docrail.dag.language.rates import DEFAULT_LIMITS, fleet_limits
from docrail.dag.language.source.source import MAX_SOURCE_BYTES
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem, render

File = Annotated[Path, typer.Argument(help="A definition, as YAML or JSON.", metavar="FILE")]

SUFFIXES = (".yaml", ".yml", ".json")
"""Of the files in a folder that are definitions."""


def validate(
    paths: Annotated[list[Path], typer.Argument(help="Definitions, and folders of them.", metavar="PATH...")],
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
            lines = [render(problem, str(file)) for problem in problems]
            print("\n".join([*lines, _verdict(file, definition, problems)]))
    valid = sum(report["valid"] for report in reports)
    if as_json:
        print_json(reports)
    elif len(reports) > 1:
        print(f"{len(reports)} files, {valid} valid")
    if valid < len(reports):
        raise typer.Exit(1)


def read(file: Path) -> bytes:
    """Return the file's content. Raises: SystemExit with what was found in place of a file."""
    expected = "expected a file with a definition, as YAML or JSON"
    try:
        with file.open("rb") as stream:
            return stream.read() if file.is_file() else stream.read(MAX_SOURCE_BYTES + 1)  # a device may never end
    except FileNotFoundError:
        raise SystemExit(f"there is no file {file}: {expected}") from None
    except IsADirectoryError:
        raise SystemExit(f"{file} is a folder: {expected}") from None
    except OSError as error:
        raise SystemExit(f"cannot read {file}: {error.strerror}") from None


def load(file: Path) -> Definition:
    """Return the definition in `file`. Raises: SystemExit with all its problems if it has errors."""
    definition, problems = check_definition(read(file), handlers_by_name())
    if definition is None:
        lines = [render(problem, str(file)) for problem in problems]
        raise SystemExit("\n".join([f"{file} is not valid", *lines, _verdict(file, definition, problems)]))
    return definition


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, those of folders in the order of their names. Raises: SystemExit for a folder that has none."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        visible = [file for file in inside if not any(part.startswith(".") for part in file.relative_to(path).parts)]
        if not visible:
            raise SystemExit(f"the folder {path} has no definition: looked for {', '.join(SUFFIXES)}")
        yield from visible


def _verdict(file: Path, definition: Definition | None, problems: Sequence[Problem]) -> str:
    found = Counter(problem.severity for problem in problems)
    counts = [count_of(found[severity], severity) for severity in ("error", "warning") if found[severity]]
    if definition is not None:
        counts = ["valid", count_of(len(definition.steps), "step"), *counts]
    return f"{file}: {', '.join(counts)}"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"
