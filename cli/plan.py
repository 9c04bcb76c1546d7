"""`docrail definition plan`: a definition's layers, its critical path and its graph."""

from enum import StrEnum
from typing import Annotated

import typer

from docrail.cli.definitions import File, count_of, load
from docrail.cli.terminal import print_json, say_source, say_unfolded
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.picture import critical_path, layers, mermaid, most_at_once


class PlanFormat(StrEnum):
    """How a plan is printed."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


def plan(
    file: File,
    output: Annotated[PlanFormat, typer.Option("--format", "-f", help="How to print it.")] = PlanFormat.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as --format json.")] = False,
) -> None:
    """Show a definition's layers, its critical path and its graph.

    The steps of a layer can start together; the critical path is the longest chain of steps, each waiting for the one
    before. GitHub and many editors draw Mermaid. Needs no server.

    Example: docrail definition plan definitions/invoice.yaml --format mermaid
    """
    definition = load(file)
    match PlanFormat.JSON if as_json else output:
        case PlanFormat.MERMAID:
            say_source(mermaid(definition))
        case PlanFormat.JSON:
            print_json(_as_json(definition))
        case PlanFormat.TEXT:
            say_unfolded("\n".join(_as_text(definition)))


def _as_text(definition: Definition) -> list[str]:
    found = layers(definition)
    size = f"{count_of(len(definition.steps), 'step')} in {count_of(len(found), 'layer')}"
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
