"""`docrail handler`: what a step's `handler` may name, with the fields of each config and output. Needs no server."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from docrail.cli.catalogue import all_handlers
from docrail.cli.tables import ID, TEXT, print_table
from docrail.cli.terminal import complain, print_json
from docrail.services.definitions.handlers import HandlerInfo, Schema, lines_of, list_handlers, load_handler
from docrail.services.errors import NotFound, WrongState

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, with the JSON Schema of each config and output.")]


def list_all(as_json: AsJson = False) -> None:
    """List the handlers.

    A handler is what a step runs. Handlers of DOCRAIL_HANDLERS are listed with the shipped ones; those that cannot be
    used are reported with file and line. Needs no server.

    Exit codes: 0 shown, 2 wrong usage.

    Example: docrail handler list
    """
    catalogue = all_handlers()
    found = list_handlers(catalogue)
    for broken in catalogue.broken_handlers:
        complain(f"the handler {broken.name!r} cannot be used: {broken}")
    if as_json:
        print_json([asdict(handler) for handler in found])
        return
    rows = [[handler.name, handler.summary, ", ".join(handler.aliases)] for handler in found]
    print_table({"handler": ID, "what it does": TEXT, "other names": TEXT}, rows)


def show(
    name: Annotated[str, typer.Argument(help="A handler's name, or another name of it.", metavar="NAME")],
    as_json: AsJson = False,
) -> None:
    """Show a handler's config and output.

    Exit codes: 0 shown, 1 there is no such handler, 2 wrong usage.

    Example: docrail handler show send_webhook
    """
    try:
        handler = load_handler(all_handlers(), name)
    except (NotFound, WrongState) as error:
        raise SystemExit(f"{error} (`docrail handler list` lists them all)") from None
    if as_json:
        print_json(asdict(handler))
        return
    print("\n".join(_heading(handler)))
    _print_fields("Config", handler.config_schema)
    _print_fields("Output", handler.output_schema, defaults=False)


def _heading(handler: HandlerInfo) -> Iterator[str]:
    yield f"{handler.name}: {handler.summary}"
    if handler.aliases:
        yield f"Other names: {', '.join(handler.aliases)}"


def _print_fields(title: str, schema: Schema, *, defaults: bool = True) -> None:
    print(f"\n{title}: {_plain(schema.get('description', ''))}", flush=True)
    default = {"default": TEXT} if defaults else {}
    rows = [
        [line.name, _plain(line.type), *([line.default] if defaults else []), _plain(line.meaning)]
        for line in lines_of(schema)
    ]
    if rows:
        print_table({"field": ID, "type": TEXT, **default, "meaning": TEXT}, rows)


def _plain(text: str) -> str:
    """Return the text without the marks that the reference page needs."""
    return text.replace("`", "")
