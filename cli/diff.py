"""`docrail definition diff`: how two versions of a definition differ, each a file or a published one."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.definitions import load
from docrail.cli.printout import Printout
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.difference import Change, ChangeKind, DefinitionDiff
from docrail.dag.language.difference import diff as compare
from docrail.dag.language.version_refs import STABLE, parse_ref
from docrail.dag.values.json_values import Json

LONGEST_VALUE = 200
"""Characters shown of a value; --json has all of them."""
MARKS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}

Side = Annotated[str, typer.Argument(help="A definition's file, or ID@VERSION or ID@ALIAS.", metavar="FILE|ID@V")]


def diff(
    old: Side,
    new: Annotated[
        str | None,
        typer.Argument(
            help="The same, to compare with; a single argument is compared with ID@stable.", metavar="FILE|ID@V"
        ),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 3 if there is a difference.")] = False,
    api: Api = HERE,
) -> Printout:
    """Show how two versions of a definition differ.

    Steps added (+), removed (-) and changed (~), field by field; then everything else. A file given alone shows what
    publishing it would change. Two files need no server.

    Exit codes: 0 shown; 1 one is not valid or does not exist, or the API is unavailable; 2 wrong usage; 3 with
    --exit-code, there is a difference.

    Example: docrail definition diff invoice@stable invoice.yaml
    """
    body = _body(api, old)
    if new is None:
        new, old = old, f"{body['id']}@{STABLE}"
        found = compare(_body(api, old), body)
    else:
        found = compare(body, _body(api, new))
    lines = _lines(found) if found else ["no difference"]
    return Printout(asdict(found), [f"{old} → {new}", *lines], code=3 if found and exit_code else 0)


def _body(api: str, side: str) -> dict[str, Json]:
    """Return the definition that a file or a reference means, as it is stored. Raises: SystemExit, ApiError."""
    if parse_ref(side) is None or Path(side).is_file():
        return to_json(load(Path(side)))
    published = ask_api(api, "GET", f"/v1/definitions/{side}")
    return to_json(Definition.model_validate(published["body"]))  # as this release writes it, whenever it was published


def _lines(found: DefinitionDiff) -> Iterator[str]:
    yield from (f"+ step {name}" for name in found.added)
    yield from (f"- step {name}" for name in found.removed)
    for step in found.changed:
        yield f"~ step {step.id}"
        yield from (f"    {_line(change)}" for change in step.changes)
    if found.reordered:
        yield "~ the order of the steps"
    yield from map(_line, found.fields)


def _line(change: Change) -> str:
    match change.kind:
        case ChangeKind.ADDED:
            values = _shown(change.new)
        case ChangeKind.REMOVED:
            values = _shown(change.old)
        case ChangeKind.CHANGED:
            values = f"{_shown(change.old)} → {_shown(change.new)}"
    return f"{MARKS[change.kind]} {change.path}: {values}"


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
