"""`docrail routing`: the rules that choose a definition for an upload that names none."""

from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.definitions import read
from docrail.cli.tables import ID, TEXT, print_table
from docrail.cli.terminal import AsJson, print_json
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem, render

ROUTING = "/v1/routing"

File = Annotated[Path, typer.Argument(help="Routing rules, as YAML or JSON.", metavar="FILE")]


def show(
    source: Annotated[bool, typer.Option("--source", help="Print the author's text and nothing else.")] = False,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Show the rules in force.

    The first rule whose expression is true chooses the definition of a document whose upload names none. If no rule
    matches, the document takes the default.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail routing show
    """
    found = ask_api(api, "GET", ROUTING)
    if source:
        print(found["source"], end="" if found["source"].endswith("\n") else "\n")
    elif as_json:
        print_json(found)
    else:
        _print_rules(found)


def validate(file: File, as_json: AsJson = False, api: Api = HERE) -> None:
    """Check a file of rules and print every problem in it.

    Only the API knows whether a definition exists, and whether a document can run it.

    Exit codes: 0 valid, 1 not valid, or the API is unavailable, 2 wrong usage.

    Example: docrail routing validate routing.yaml
    """
    text = _text(file)
    answer = ask_api(api, "POST", f"{ROUTING}/validate", json={"routing": text})
    if as_json:
        print_json(answer["problems"])
    else:
        print("\n".join([*_problems(answer, file), f"{file}: {'valid' if answer['valid'] else 'not valid'}"]))
    if not answer["valid"]:
        raise typer.Exit(1)


def put(
    file: File,
    revision: Annotated[
        int | None,
        typer.Option(help="The revision that you changed: refused if there is a newer one.", min=0, metavar="N"),
    ] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Put a file of rules into force.

    They replace the rules before.

    Exit codes: 0 in force, 1 not valid, or the API refused or is unavailable, 2 wrong usage.

    Example: docrail routing set routing.yaml --revision 3
    """
    text = _text(file)
    answer = ask_api(api, "POST", f"{ROUTING}/validate", json={"routing": text})
    problems = _problems(answer, file)
    if not answer["valid"]:
        raise SystemExit("\n".join([f"{file} is not valid", *problems]))
    order = {"routing": text} | ({} if revision is None else {"revision": revision})
    placed = ask_api(api, "PUT", ROUTING, json=order)
    if as_json:
        print_json(placed)
        return
    print("\n".join([*problems, f"revision {placed['revision']} is in force\n"]), flush=True)
    _print_rules(placed)


def attempt(
    media_type: Annotated[str | None, typer.Option("--type", help="Its media type, as application/pdf.")] = None,
    size: Annotated[int | None, typer.Option(help="Its bytes.", min=0, metavar="N")] = None,
    source: Annotated[str | None, typer.Option(help="Where the uploader says that it comes from.")] = None,
    file_name: Annotated[str | None, typer.Option("--file-name", help="Its file's name.")] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Show which definition a document would take.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail routing try --type application/xml --source email
    """
    given = {"type": media_type, "size": size, "source": source, "file_name": file_name}
    facts = {name: value for name, value in given.items() if value is not None}
    found = ask_api(api, "POST", f"{ROUTING}/try", json=facts)
    if as_json:
        print_json(found)
        return
    why = "no rule holds" if found["rule"] is None else f"rule {found['rule']}"
    print("\n".join([f"{found['definition']}  ({why})", *(f"rule {n}: {text}" for n, text in found["faults"].items())]))


def _text(file: Path) -> str:
    try:
        return read(file).decode()
    except UnicodeDecodeError:
        raise SystemExit(f"{file} is not UTF-8: expected a text with routing rules, as YAML or JSON") from None


def _problems(answer: dict[str, Json], file: Path) -> list[str]:
    return [render(Problem(**problem), str(file)) for problem in answer["problems"]]


def _print_rules(found: dict[str, Json]) -> None:
    rows = [
        [str(number), rule.get("when", "always"), rule["definition"], rule.get("title", "")]
        for number, rule in enumerate(found["rules"])
    ]
    print_table(
        {"rule": ID, "when": TEXT, "definition": ID, "title": TEXT}, [*rows, ["", "else", found["default"], ""]]
    )
