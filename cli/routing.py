"""`docrail routing`: the rules that choose a definition for an upload that names none."""

from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, given
from docrail.cli.definitions import read
from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import Source
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem, render

ROUTING = "/v1/routing"

File = Annotated[Path, typer.Argument(help="Routing rules, as YAML or JSON.", metavar="FILE")]


def show(source: Source = False, api: Api = HERE) -> Printout:
    """Show the rules in force.

    The first rule whose expression is true chooses the definition of a document whose upload names none. If no rule
    matches, the document takes the default.

    Example: docrail routing show
    """
    found = ask_api(api, "GET", ROUTING)
    return Printout(found, [_rules(found)], source=found["source"] if source else None)


def validate(file: File, api: Api = HERE) -> Printout:
    """Check a file of rules and print every problem in it.

    Only the API knows whether a definition exists, and whether a document can run it.

    Exit codes: 0 valid, 1 not valid, or the API is unavailable, 2 wrong usage.

    Example: docrail routing validate routing.yaml
    """
    answer = ask_api(api, "POST", f"{ROUTING}/validate", json={"routing": _text(file)})
    verdict = f"{file}: {'valid' if answer['valid'] else 'not valid'}"
    return Printout(answer["problems"], [*_problems(answer, file), verdict], code=not answer["valid"])


def put(
    file: File,
    revision: Annotated[
        int | None,
        typer.Option(help="The revision that you changed: refused if there is a newer one.", min=0, metavar="N"),
    ] = None,
    api: Api = HERE,
) -> Printout:
    """Apply a file of rules.

    They replace all present rules.

    Example: docrail routing set routing.yaml --revision 3
    """
    text = _text(file)
    answer = ask_api(api, "POST", f"{ROUTING}/validate", json={"routing": text})
    problems = _problems(answer, file)
    if not answer["valid"]:
        raise SystemExit("\n".join([f"{file} is not valid", *problems]))
    placed = ask_api(api, "PUT", ROUTING, json={"routing": text, **given(revision=revision)})
    return Printout(placed, [*problems, f"revision {placed['revision']} is in force\n", _rules(placed)])


def attempt(
    media_type: Annotated[str | None, typer.Option("--type", help="Its media type, such as application/pdf.")] = None,
    size: Annotated[int | None, typer.Option(help="Its size in bytes.", min=0, metavar="N")] = None,
    source: Annotated[str | None, typer.Option(help="Its source, as the uploader names it.")] = None,
    file_name: Annotated[str | None, typer.Option("--file-name", help="The name of its file.")] = None,
    api: Api = HERE,
) -> Printout:
    """Show which definition a document would take.

    Example: docrail routing try --type application/xml --source email
    """
    facts = given(type=media_type, size=size, source=source, file_name=file_name)
    found = ask_api(api, "POST", f"{ROUTING}/try", json=facts)
    why = "no rule holds" if found["rule"] is None else f"rule {found['rule']}"
    faults = (f"rule {number}: {text}" for number, text in found["faults"].items())
    return Printout(found, [f"{found['definition']}  ({why})", *faults])


def _text(file: Path) -> str:
    try:
        return read(file, "routing rules, as YAML or JSON").decode()
    except UnicodeDecodeError:
        raise SystemExit(f"{file} is not UTF-8: expected a text with routing rules, as YAML or JSON") from None


def _problems(answer: dict[str, Json], file: Path) -> list[str]:
    return [render(Problem(**problem), str(file)) for problem in answer["problems"]]


def _rules(found: dict[str, Json]) -> Listing:
    rows = [
        [str(number), rule.get("when", "always"), rule["definition"], rule.get("title", "")]
        for number, rule in enumerate(found["rules"])
    ]
    rows.append(["", "else", found["default"], ""])
    return Listing({"rule": ID, "when": TEXT, "definition": ID, "title": TEXT}, rows)
