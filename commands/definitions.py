"""`docrail validate` and `docrail plan`: look at a definition's file, without any server."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from activities.registry import load_catalogue
from dag.definition import Definition
from dag.picture import critical_path, layers, mermaid
from dag.problems import Problem, render
from operations.source import check_definition

File = Annotated[Path, typer.Argument(help="A definition, as YAML or JSON.", metavar="FILE")]


class PlanFormat(StrEnum):
    """How a plan is printed."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


def validate(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as a JSON list.")] = False,
) -> None:
    """Check a definition and print every problem with its place, as a compiler does; exit code 1 if there is an error.

    Example: docrail validate definitions/invoice.yaml
    """
    definition, problems = check_definition(read(file), load_catalogue())
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
    """Show what a definition would do: its layers, its critical path, and the graph as Mermaid or JSON.

    Example: docrail plan definitions/invoice.yaml --format mermaid
    """
    definition = load(file)
    match output:
        case PlanFormat.MERMAID:
            print(mermaid(definition))
        case PlanFormat.JSON:
            print(json.dumps(_as_json(definition), indent=2))
        case PlanFormat.TEXT:
            print("\n".join(_as_text(definition)))


def read(file: Path) -> bytes:
    """Return the file's content. Raises SystemExit with what to do when there is no such file."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise SystemExit(f"cannot read {file}: {error.strerror}") from None


def load(file: Path) -> Definition:
    """Return the definition in `file`. Raises SystemExit with all its problems if it has errors."""
    definition, problems = check_definition(read(file), load_catalogue())
    if definition is None:
        raise SystemExit(
            "\n".join(["the definition has errors:", *(render(problem, str(file)) for problem in problems)])
        )
    return definition


def _verdict(file: Path, definition: Definition | None, problems: list[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    if definition is None:
        return f"{file}: {errors} error{'s' * (errors != 1)}"
    return f"{file}: valid, {len(definition.steps)} steps"


def _as_text(definition: Definition) -> list[str]:
    lines = [f"{definition.id}: {definition.title}" if definition.title else definition.id, ""]
    lines += [f"layer {number}  {', '.join(names)}" for number, names in enumerate(layers(definition))]
    return [*lines, "", f"critical path  {' → '.join(critical_path(definition))}"]


def _as_json(definition: Definition) -> dict[str, object]:
    return {
        "definition": definition.model_dump(mode="json"),
        "layers": layers(definition),
        "critical_path": critical_path(definition),
        "mermaid": mermaid(definition),
    }
