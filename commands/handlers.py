"""`docrail handlers`: what a step's `handler` may name, and what each takes and gives. Needs no server."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from commands.catalogue import all_handlers
from commands.speaking import complain, console, table
from operations.errors import NotFound, WrongState
from operations.handlers import HandlerInfo, Schema, lines_of, list_handlers, load_handler


def handlers(
    name: Annotated[str | None, typer.Argument(help="Of one handler, everything.", metavar="[NAME]")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with the JSON Schema of each config and output.")
    ] = False,
) -> None:
    """List the handlers, or show one.

    A handler is what a step runs. Without a name each is told in one line; with one, the fields of its config and its
    output too. Handlers of DOCRAIL_HANDLERS are listed with the shipped ones; those that cannot be used are reported
    with file and line. Needs no server.

    Exit codes: 0 shown, 1 there is no such handler, 2 wrong usage.

    Example: docrail handlers send_webhook
    """
    catalogue = all_handlers()
    found = list_handlers(catalogue) if name is None else [_find(name)]
    if as_json:
        told = [asdict(handler) for handler in found]
        print(json.dumps(told if name is None else told[0], indent=2))
    elif name is None:
        _print_list(found)
    else:
        _print_one(found[0])
    if name is None:
        for broken in catalogue.broken_handlers:
            complain(f"the handler {broken.name!r} cannot be used: {broken}")


def _find(name: str) -> HandlerInfo:
    try:
        return load_handler(all_handlers(), name)
    except (NotFound, WrongState) as error:
        raise SystemExit(f"{error} (`docrail handlers` lists them all)") from None


def _print_list(found: list[HandlerInfo]) -> None:
    rows = table()
    for heading in ("handler", "what it does", "other names"):
        rows.add_column(heading)
    for handler in found:
        rows.add_row(handler.name, handler.summary, ", ".join(handler.aliases))
    console().print(rows)


def _print_one(handler: HandlerInfo) -> None:
    print("\n".join(_heading(handler)))
    _print_fields("Config", handler.config_schema)
    _print_fields("Output", handler.output_schema, defaults=False)


def _heading(handler: HandlerInfo) -> Iterator[str]:
    yield f"{handler.name}: {handler.summary}"
    if handler.aliases:
        yield f"Other names: {', '.join(handler.aliases)}"


def _print_fields(title: str, schema: Schema, *, defaults: bool = True) -> None:
    print(f"\n{title}: {_plain(schema.get('description', ''))}")
    rows = table()
    for heading in ("field", "type", *(["default"] if defaults else []), "meaning"):
        rows.add_column(heading)
    for line in lines_of(schema):
        rows.add_row(line.name, _plain(line.type), *([line.default] if defaults else []), _plain(line.meaning))
    if rows.rows:
        console().print(rows)


def _plain(text: str) -> str:
    """Return the text without the marks that the reference page needs."""
    return text.replace("`", "")
