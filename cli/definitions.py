"""`docrail validate` and `docrail definition plan`: check definitions without a server."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from activities.registry import NamedHandlers
from cli.terminal import AsJson, print_json
from dag.definition import Definition, to_json
from dag.picture import critical_path, layers, mermaid
from dag.problems import Problem, render
from dag.rates import DEFAULT_LIMITS, fleet_limits
from dag.values import Json
from operations.source import MAX_SOURCE_BYTES, check_definition

File = Annotated[Path, typer.Argument(help="A definition, as YAML or JSON.", metavar="FILE")]

SUFFIXES = (".yaml", ".yml", ".json")
"""Of the files in a folder that are definitions."""


class PlanFormat(StrEnum):
    """How a plan is printed."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


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
        definition, problems = check_definition(read(file), NamedHandlers(), tags)
        found = [asdict(problem) for problem in problems]
        reports.append({"file": str(file), "valid": definition is not None, "problems": found})
        if not as_json:
            print(
                "\n".join([*(render(problem, str(file)) for problem in problems), _verdict(file, definition, problems)])
            )
    valid = sum(report["valid"] for report in reports)
    if as_json:
        print_json(reports)
    elif len(reports) > 1:
        print(f"{len(reports)} files, {valid} valid")
    if valid < len(reports):
        raise typer.Exit(1)


def plan(
    file: File,
    output: Annotated[PlanFormat, typer.Option("--format", "-f", help="How to print it.")] = PlanFormat.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as --format json.")] = False,
) -> None:
    """Show a definition's layers, its critical path and its graph.

    The steps of a layer can start together; the critical path is the longest chain of steps, each waiting for the one
    before. GitHub and many editors draw Mermaid. Needs no server.

    Exit codes: 0 shown, 1 not valid or not readable, 2 wrong usage.

    Example: docrail definition plan definitions/invoice.yaml --format mermaid
    """
    definition = load(file)
    match PlanFormat.JSON if as_json else output:
        case PlanFormat.MERMAID:
            print(mermaid(definition), end="")
        case PlanFormat.JSON:
            print_json(_as_json(definition))
        case PlanFormat.TEXT:
            print("\n".join(_as_text(definition)))


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
    definition, problems = check_definition(read(file), NamedHandlers())
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
        f"{size}, at most {_most_at_once(definition)} at once",
        "",
        *(f"layer {number}  {', '.join(names)}" for number, names in enumerate(found)),
        "",
        f"critical path  {' → '.join(critical_path(definition))}",
    ]


def _most_at_once(definition: Definition) -> int:
    """Return how many steps and items can run together at most: lay the steps out in chains, and count these."""
    widths: dict[str, int] = {}  # by the last step of a chain: the most that one of its steps runs at once
    steps = {step.id: step for step in definition.steps}
    for step in (steps[name] for layer in layers(definition) for name in layer):
        before = next((parent for parent in step.parents if parent in widths), None)
        width = 1 if step.for_each is None else step.for_each.max_concurrency
        widths[step.id] = max(width, widths.pop(before, 0) if before else 0)
    return min(sum(widths.values()), definition.limits.max_concurrency)


def _as_json(definition: Definition) -> dict[str, object]:
    return {
        "definition": to_json(definition),
        "layers": layers(definition),
        "critical_path": critical_path(definition),
        "mermaid": mermaid(definition),
    }
