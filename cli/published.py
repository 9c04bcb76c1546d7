"""`docrail definition`: publish definitions, list them, and choose which version new runs get."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_all, ask_api, given
from docrail.cli.definitions import load, read
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.terminal import AsJson, Reason, Source, expected_one_of, moment, print_json, say
from docrail.dag.language.version_refs import CANARY, STABLE, Target, parse_ref
from docrail.dag.validation.lint.nested import publishing_order
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem, render

DEFINITIONS = "/v1/definitions"

Id = Annotated[str, typer.Argument(help="A definition's id.", metavar="ID")]


def publish(
    files: Annotated[list[Path], typer.Argument(help="Definitions, as YAML or JSON.", metavar="FILE")],
    promote: Annotated[
        bool, typer.Option("--promote/--no-promote", help="Whether new runs get it at once: `stable` moves to it.")
    ] = True,
    run_tests: Annotated[
        bool, typer.Option("--run-tests", help="Run the tests in it first: if one fails, it is not published.")
    ] = False,
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Publish definitions, each as its next version.

    The same content again is the same version. The first version of a definition always becomes `stable`. Of several,
    a definition that the steps of others run is published first. Warnings go to stderr, also for definitions that
    steps run and that are not published yet.

    A published version never changes. New runs get the version that the alias `stable` names, or, for a share of them,
    the version of `canary`.

    Exit codes: 0 published, 1 one is not valid or was refused, 2 wrong usage.

    Example: docrail definition publish invoice.yaml --no-promote
    """
    found: list[dict[str, Json]] = []
    loaded = [load(file) for file in files]  # before anything is published: its problems then name the file
    for file in (files[place] for place in publishing_order(loaded)):
        order = {"definition": read(file).decode(), "promote": promote, "reason": reason}
        published = ask_api(api, "POST", DEFINITIONS, json=order, params={"run_tests": run_tests or None})
        found.append(published)
        if as_json:
            continue
        for warning in published["warnings"]:
            say(render(Problem(**warning), str(file)), sys.stderr)
        effect = _effect(published["version"], published["aliases"])
        say(f"{published['definition_id']} version {published['version']}: {effect}")
    if as_json:
        print_json(found)


def list_definitions(api: Api = HERE) -> Printout:
    """List definitions with their versions and aliases.

    Example: docrail definition list
    """
    found = ask_all(api, DEFINITIONS, "definitions")
    rows = [
        [line["definition_id"], str(line["version"]), _aliases(line["aliases"]), moment(line["created_at"])]
        for line in found
    ]
    return Printout(found, [Listing({"definition": ID, "newest": NUMBER, "aliases": TEXT, "published": ID}, rows)])


def show(
    ref: Annotated[str, typer.Argument(help="ID, ID@VERSION or ID@ALIAS; an id alone is ID@stable.", metavar="REF")],
    source: Source = False,
    api: Api = HERE,
) -> Printout:
    """Show a version of a definition and list the others.

    Example: docrail definition show invoice@canary --source
    """
    found = ask_api(api, "GET", f"{DEFINITIONS}/{ref}")
    return Printout(found, _version_parts(api, found), source=found["source"] if source else None)


def _version_parts(api: str, found: dict[str, Json]) -> Iterator[str | Listing]:
    page = ask_api(api, "GET", f"{DEFINITIONS}/{found['definition_id']}/versions")
    title = f": {found['body']['title']}" if found["body"].get("title") else ""
    yield f"{found['definition_id']} version {found['version']}{title}\nsha256 {found['digest']}\n"
    rows = []
    for line in page["versions"]:
        named = {alias: target for alias, target in page["aliases"].items() if target["version"] == line["version"]}
        names = ", ".join(f"{alias}{_share(target)}" for alias, target in named.items())
        rows.append([str(line["version"]), names, moment(line["created_at"]), f"{line['digest'][:12]}…"])
    yield Listing({"version": ID, "aliases": TEXT, "published": ID, "sha256": ID}, rows)
    yield from older(page)


def alias(
    definition_id: Id,
    name: Annotated[str, typer.Argument(help="stable, canary, or a name of your own.", metavar="NAME")],
    version: Annotated[
        str | None, typer.Argument(help="The version, or an alias that names it.", metavar="VERSION")
    ] = None,
    percent: Annotated[
        int | None, typer.Option(help="The canary's share of new runs.", min=0, max=100, metavar="N")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the alias instead; `stable` stays.")] = False,
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Point an alias at a version, or remove it.

    `stable` is what new runs get; moving it ends a canary. `canary` gets a share of them, chosen by their key: the same
    document always gets the same version, and a larger share only adds to a smaller one. Open runs stay as they are.

    Example: docrail definition alias invoice canary 4 --percent 10
    """
    if remove == (version is not None):
        raise typer.BadParameter("expected a version, or --remove", param_hint="VERSION")
    path = f"{DEFINITIONS}/{definition_id}/aliases/{name}"
    if version is None:
        found = ask_api(api, "DELETE", path, params={"reason": reason})
    else:
        wanted = {"version": _number(api, definition_id, version), "reason": reason, **given(percent=percent)}
        found = ask_api(api, "PUT", path, json=wanted)
    return Printout(found, _alias_line(found))


def rollback(definition_id: Id, reason: Reason = "", api: Api = HERE) -> Printout:
    """Undo the last change of what new runs get.

    Ends the canary, if there is one; else `stable` names the version again that it named before. Undoing again goes
    further back. Open runs stay as they are.

    Example: docrail definition rollback invoice --reason "totals are wrong since 9:30"
    """
    undone = ask_api(api, "POST", f"{DEFINITIONS}/{definition_id}/rollback", json={"reason": reason})
    moves = [f"{move['alias']}: {_target(move['before'])} → {_target(move['after'])}" for move in undone["moves"]]
    return Printout(undone, [*moves, _alias_line(undone)])


def history(definition_id: Id, api: Api = HERE) -> Printout:
    """Show who moved a definition's aliases, when and why.

    Example: docrail definition history invoice
    """
    found = ask_all(api, f"{DEFINITIONS}/{definition_id}/moves", "moves")
    rows = []
    for move in found:
        why = f"{move['kind']}: {move['reason']}" if move["reason"] else move["kind"]
        ends = (_target(move["before"]), _target(move["after"]))
        rows.append([moment(move["moved_at"]), move["alias"], *ends, move["moved_by"], why])
    return Printout(found, [Listing({"when": ID, "alias": ID, "from": ID, "to": ID, "by": ID, "why": TEXT}, rows)])


def _number(api: str, definition_id: str, version: str) -> int:
    """Return the version that a number or an alias means. Raises: typer.BadParameter."""
    ref = parse_ref(f"{definition_id}@{version}")
    if ref is not None and ref.version is not None:
        return ref.version
    aliases = ask_api(api, "GET", f"{DEFINITIONS}/{definition_id}/aliases")["aliases"]
    if version not in aliases:
        found = f"{version!r} is neither a version nor an alias of {definition_id}"
        raise typer.BadParameter(f"{found}{expected_one_of(version, aliases)}", param_hint="VERSION")
    number: int = aliases[version]["version"]
    return number


def _alias_line(found: dict[str, Json]) -> str:
    return f"{found['definition_id']}: {_aliases(found['aliases'])}"


def _effect(version: int, aliases: Mapping[str, Json]) -> str:
    """Return which runs get a version that was just published."""
    stable, canary = aliases[STABLE], aliases.get(CANARY)
    if stable["version"] == version:
        return "new runs get it"
    share = f"{canary['percent']} % of new runs get it, the others" if canary and canary["version"] == version else ""
    return f"{share or 'new runs still get'} version {stable['version']}"


def _aliases(aliases: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} {_target(target)}" for name, target in sorted(aliases.items(), key=_stable_first))


def _stable_first(named: tuple[str, Json]) -> tuple[bool, str]:
    return named[0] != STABLE, named[0]


def _target(target: dict[str, Json] | None) -> str:
    return "-" if target is None else str(Target(target["version"], target["percent"]))


def _share(target: dict[str, Json]) -> str:
    return "" if target["percent"] is None else f" ({target['percent']} %)"
