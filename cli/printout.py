"""What a command returns: data for --json, and lines and tables for people."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import typer

from docrail.cli.credentials import ApiKey, given_key
from docrail.cli.listing import Listing
from docrail.cli.terminal import AsJson, print_json, say, say_source
from docrail.dag.values.json_values import Json

EXIT_CODES = "Exit codes: 0 done; 1 not found, refused or a server is unavailable; 2 wrong usage; 130 Ctrl-C."
"""Of a command whose help lists none of its own."""


@dataclass(frozen=True, slots=True)
class Printout:
    """The result of a command: `data` for --json, `parts` for people, and how the command ends."""

    data: Json
    parts: Iterable[str | Listing] = ()
    code: int = 0
    error: str = ""
    """Printed to stderr at the end, with exit code 1."""
    source: str | None = None
    """Printed in place of all else: a text exactly as its author wrote it."""

    def print(self, *, as_json: bool) -> None:
        """Print it, and end the command if it did not succeed. Raises: SystemExit, typer.Exit."""
        if self.source is not None:
            say_source(self.source)
        elif as_json:
            print_json(self.data)
        else:
            print_parts(self.parts)
        if self.error:
            raise SystemExit(self.error)
        if self.code:
            raise typer.Exit(self.code)


def print_parts(parts: Iterable[str | Listing]) -> None:
    """Print lines and tables in their order; a single text is one part."""
    for part in (parts,) if isinstance(parts, str) else parts:
        match part:
            case str():
                say(part)
            case Listing(headings, rows):
                from docrail.cli.tables import print_table  # rich, which few commands need

                print_table(headings, [*rows])


def older(page: Mapping[str, Json]) -> list[str]:
    """Return the line that says that a page, newest first, is not all."""
    return [] if page["after"] is None else ["… and older ones"]


def command_of(leaf: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that prints what `leaf` returns, with the option --json; a leaf that has it prints itself."""
    parameters = dict(inspect.signature(leaf).parameters)
    prints_itself, calls_api = "as_json" in parameters, "api" in parameters
    last = [parameters.pop("api"), _option("api_key", ApiKey, None)] if calls_api else []
    own = [] if prints_itself else [_option("as_json", AsJson, default=False)]
    ordered = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*parameters.values(), *own, *last)]

    @wraps(leaf)
    def command(*, api_key: str | None = None, **given: Any) -> None:
        given_key.set(api_key)
        as_json = given["as_json"] if prints_itself else given.pop("as_json")
        found: Printout | None = leaf(**given)
        if found is not None:
            found.print(as_json=as_json)

    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in ordered}
    return command


def _option(name: str, annotation: Any, default: Json) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def help_of(leaf: Callable[..., Any]) -> str:
    """Return the help of a command: its docstring, with the usual exit codes before the example if it has none."""
    text = inspect.getdoc(leaf) or ""
    return (
        text
        if "Exit codes: " in text
        else re.sub(r"^Example: ", f"{EXIT_CODES}\n\nExample: ", text, flags=re.MULTILINE)
    )
