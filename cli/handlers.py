"""`docrail handler`: what a step's `handler` may name, with the fields of each config and output. Needs no server."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from docrail.cli.catalogue import all_handlers
from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import complain
from docrail.services.definitions.handlers import HandlerInfo, Schema, lines_of, list_handlers, load_handler
from docrail.services.errors import NotFound, WrongState


def list_all() -> Printout:
    """List the handlers.

    A handler is what a step runs. Handlers of DOCRAIL_HANDLERS are listed with the shipped ones; those that cannot be
    used are reported with file and line. Needs no server.

    Example: docrail handler list
    """
    catalogue = all_handlers()
    found = list_handlers(catalogue)
    for broken in catalogue.broken_handlers:
        complain(f"the handler {broken.name!r} cannot be used: {broken}")
    rows = [[handler.name, handler.summary, ", ".join(handler.aliases)] for handler in found]
    listing = Listing({"handler": ID, "what it does": TEXT, "other names": TEXT}, rows)
    return Printout([asdict(handler) for handler in found], [listing])


def show(
    name: Annotated[str, typer.Argument(help="A handler's name, or another name of it.", metavar="NAME")],
) -> Printout:
    """Show a handler's config and output.

    With --json as JSON Schema. Needs no server.

    Example: docrail handler show send_webhook
    """
    try:
        handler = load_handler(all_handlers(), name)
    except (NotFound, WrongState) as error:
        raise SystemExit(f"{error} (`docrail handler list` lists them all)") from None
    config, output = _fields("Config", handler.config_schema), _fields("Output", handler.output_schema, defaults=False)
    return Printout(asdict(handler), [*_heading(handler), *config, *output])


def _heading(handler: HandlerInfo) -> Iterator[str]:
    yield f"{handler.name}: {handler.summary}"
    if handler.aliases:
        yield f"Other names: {', '.join(handler.aliases)}"


def _fields(title: str, schema: Schema, *, defaults: bool = True) -> Iterator[str | Listing]:
    yield f"\n{title}: {_plain(schema.get('description', ''))}"
    default = {"default": TEXT} if defaults else {}
    rows = [
        [line.name, _plain(line.type), *([line.default] if defaults else []), _plain(line.meaning)]
        for line in lines_of(schema)
    ]
    if rows:
        yield Listing({"field": ID, "type": TEXT, **default, "meaning": TEXT}, rows)


def _plain(text: str) -> str:
    """Return the text without the marks that the reference page needs."""
    return text.replace("`", "")
