"""`docrail validate` and `docrail plan`: look at a definition's file, without any server."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from commands.catalogue import handlers_by_name
from dag.definition import Definition, to_json
from dag.picture import critical_path, layers, mermaid, most_at_once
from dag.problems import Problem, render
from dag.rates import DEFAULT_LIMITS, fleet_limits
from operations.source import MAX_SOURCE_BYTES, check_definition

File = Annotated[Path, typer.Argument(help="A definition, as YAML or JSON.", metavar="FILE")]


class PlanFormat(StrEnum):
    """How a plan is printed."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


def validate(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as a JSON list.")] = False,
    resource_limits: Annotated[
        str,
        typer.Option(
            help="The resource tags that steps may have, with their limits.",
            envvar="DOCRAIL_RESOURCE_LIMITS",
            metavar="TAG=RATE,...",
        ),
    ] = DEFAULT_LIMITS,
) -> None:
    """Check a definition's file and print every problem in it.

    Each line is FILE:LINE:COLUMN: SEVERITY CODE: MESSAGE, as compilers write it. Needs no server.

    Exit codes: 0 valid, 1 not valid or not readable, 2 wrong usage.

    Example: docrail validate definitions/invoice.yaml
    """
    try:
        tags = fleet_limits(resource_limits)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--resource-limits") from None
    definition, problems = check_definition(read(file), handlers_by_name(), tags)
    if as_json:
        print(json.dumps([asdict(problem) for problem in problems], indent=2))
    else:
        for problem in problems:
            print(render(problem, str(file)))
        print(_verdict(file, definition, problems))
    if definition is None:
        raise typer.Exit(1)


def plan(
    file: File,
    output: Annotated[PlanFormat, typer.Option("--format", "-f", help="How to print it.")] = PlanFormat.TEXT,
) -> None:
    """Show a definition's layers, its critical path and its graph.

    A layer is what can start together; the critical path is the longest chain of steps, each waiting for the one
    before. Mermaid is what GitHub and many editors draw. Needs no server.

    Exit codes: 0 shown, 1 not valid or not readable, 2 wrong usage.

    Example: docrail plan definitions/invoice.yaml --format mermaid
    """
    definition = load(file)
    match output:
        case PlanFormat.MERMAID:
            print(mermaid(definition), end="")
        case PlanFormat.JSON:
            print(json.dumps(_as_json(definition), indent=2))
        case PlanFormat.TEXT:
            print("\n".join(_as_text(definition)))


def read(file: Path) -> bytes:
    """Return the file's content. Raises SystemExit with what was found when there is no such file."""
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
    """Return the definition in `file`. Raises SystemExit with all its problems if it has errors."""
    definition, problems = check_definition(read(file), handlers_by_name())
    if definition is None:
        lines = [render(problem, str(file)) for problem in problems]
        raise SystemExit("\n".join([f"{file} is not valid", *lines, _verdict(file, definition, problems)]))
    return definition


def _verdict(file: Path, definition: Definition | None, problems: Sequence[Problem]) -> str:
    found = Counter(problem.severity for problem in problems)
    counts = [_count(found[severity], severity) for severity in ("error", "warning") if found[severity]]
    if definition is not None:
        counts = ["valid", _count(len(definition.steps), "step"), *counts]
    return f"{file}: {', '.join(counts)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _as_text(definition: Definition) -> list[str]:
    found = layers(definition)
    size = f"{_count(len(definition.steps), 'step')} in {_count(len(found), 'layer')}"
    return [
        f"{definition.id}: {definition.title}" if definition.title else definition.id,
        f"{size}, at most {most_at_once(definition)} at once",
        "",
        *(f"layer {number}  {', '.join(names)}" for number, names in enumerate(found)),
        "",
        f"critical path  {' → '.join(critical_path(definition))}",
    ]


def _as_json(definition: Definition) -> dict[str, object]:
    return {
        "definition": to_json(definition),
        "layers": layers(definition),
        "critical_path": critical_path(definition),
        "mermaid": mermaid(definition),
    }
