# ruff: noqa: INP001  # a folder of documents, not a package
"""Write what follows from the code: the pages of docs/reference, schema.sql, and the API's clients.

Run: python -m docs.generate.
"""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from pydantic import BaseModel

from docrail.activities.registry import load_catalogue
from docrail.api.app import create_app
from docrail.api.errors import KINDS, OF_SERVER
from docrail.cli.main import leaves
from docrail.handlers import Handler
from docrail.invoices.model import FIELDS
from docrail.services.definitions.handlers import REQUIRED, Schema, default_words, lines_of, type_words
from docrail.settings import Settings
from docs import client_python, client_types, schema

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Made by `python -m docs.generate`: change the code, not this page. -->"
PROBLEM = "application/problem+json"
MOST_COMMANDS = 5
"""Most commands that are listed for one option."""


def page(name: str) -> str:
    """Return the page for this file in docs/reference."""
    return "\n".join(PAGES[name]()) + "\n"


def main() -> None:
    """Write the pages."""
    for name in PAGES:
        (REFERENCE / name).write_text(page(name), "utf-8")
        sys.stdout.write(f"wrote docs/reference/{name}\n")
    schema.main()
    client_types.main()
    client_python.main()


SETTINGS_FILE = """\
log_level = "info"
database_url = "postgresql://docrail_service@db.internal/docrail"
handlers = ["./handlers"]

[resource_limits]
gemini_api = "5/s"

[oidc]
issuer = "https://sso.example/realms/office"
client_id = "docrail"
scopes = {docrail-clerks = ["read", "review"]}
"""
"""An example that uses a list, a table that is one setting, and a table of settings."""


def _settings() -> Iterator[str]:
    yield from ("# Settings", "", NOTE, "")
    yield "Settings are read once when a command starts: from environment variables, else from the TOML file that"
    yield "`DOCRAIL_SETTINGS_FILE` names, else the defaults apply. `docrail settings` shows each with its source."
    yield "Invalid values are refused with the setting's name; an unknown variable `DOCRAIL_*` gives a warning. In the"
    yield "file, a table and a name in it are joined by `_`:"
    yield from ("", "```toml", *SETTINGS_FILE.splitlines(), "```", "")
    yield "`docrail up` starts the servers itself and sets their addresses for its parts."
    yield ""
    yield from _table("variable", "type", "meaning", "default")
    schema = Settings.model_json_schema(by_alias=False)
    for name, field in schema["properties"].items():
        default = _default_cell(default_words(name, schema))
        yield _row(f"`DOCRAIL_{name.upper()}`", type_words(field, schema), field["description"], default)
    yield from ("", "Options that a variable sets:", "")
    yield from _table("variable", "command", "option", "default")
    commands = defaultdict[tuple[str, str, str], list[str]](list)
    for words, command in leaves():
        for option in (option for option in command.params if option.envvar):
            commands[str(option.envvar), option.opts[0], str(option.default)].append(f"`docrail {words}`")
    for (variable, option_, default), names in commands.items():
        shown = names if len(names) <= MOST_COMMANDS else [names[0], f"{len(names) - 1} others that call the API"]
        yield _row(f"`{variable}`", ", ".join(shown), f"`{option_}`", f"`{default}`")


def _handlers() -> Iterator[str]:
    yield from ("# Handlers", "", NOTE, "")
    yield "The handlers that a step may use. [Your own](../howto/add-a-handler.md) are one file each."
    for handler in load_catalogue().values():
        yield from _handler(handler)


def _invoice_fields() -> Iterator[str]:
    yield from ("# Fields of an invoice", "", NOTE, "")
    yield "The fields of each document, in the order of the lake's columns. Each field has a value, a confidence,"
    yield "a source and, on a page, a position. An invoice without a required field goes to a person; the weight is the"
    yield "field's share in the confidence of the document."
    yield ""
    yield from _table("field", "label", "kind", "column", "meaning", "weight", "required")
    for name, spec in FIELDS.items():
        meaning, required = spec.for_model, "yes" if spec.required else "no"
        yield _row(f"`{name}`", spec.label, spec.kind.name, spec.kind.arrow, meaning, f"{spec.weight:g}", required)


def _handler(handler: Handler) -> Iterator[str]:
    promise, _, raises = _text(handler.run).partition("Raises: ")
    yield from ("", f"## {handler.name}", "", f"{handler.summary} {_first_sentence(promise)}")
    if handler.aliases:
        yield from ("", f"Other names: {', '.join(f'`{alias}`' for alias in handler.aliases)}.")
    if raises:
        yield from ("", f"Fails with: {raises}")
    yield from ("", f"**Config.** {_text(handler.config)}")
    yield from _fields(handler.config, with_default=True)
    yield from ("", f"**Output.** {_text(handler.output)}")
    yield from _fields(handler.output)


def _fields(model: type[BaseModel], *, with_default: bool = False) -> Iterator[str]:
    lines = list(lines_of(model.model_json_schema()))
    columns: dict[str, list[str]] = {
        "field": [f"`{line.name}`" for line in lines],
        "type": [line.type for line in lines],
        "meaning": [line.meaning for line in lines],
        "default": [_default_cell(line.default) if with_default else "" for line in lines],
    }
    shown = {heading: cells for heading, cells in columns.items() if any(cells)}
    if shown:
        yield ""
        yield from _table(*shown)
        yield from (_row(*cells) for cells in zip(*shown.values(), strict=True))


def _api() -> Iterator[str]:
    document = create_app(Settings()).openapi()
    yield from ("# HTTP API", "", NOTE, "")
    yield "A running API has its full documentation at `/docs`, and its OpenAPI document at `/openapi.json`."
    yield "[Problems](problems.md) says what each refusal means, and what to do."
    for tag in dict.fromkeys(tag for _, _, route in _routes(document) for tag in route["tags"]):
        yield from ("", f"## {tag.capitalize()}", "")
        yield from _table("route", "what it does", "status", "problems")
        for method, path, route in _routes(document):
            if tag in route["tags"]:
                refusals = ", ".join(sorted(_problems(route)))
                yield _row(f"`{method} {path}`", _line(route["description"]), _successes(route), refusals)


def _problem_types() -> Iterator[str]:
    yield from ("# Problems", "", NOTE, "")
    yield "Every error of the API is `application/problem+json` (RFC 9457). Its `type`, `/problems/` and a name below,"
    yield "is for programs and never changes. Its `detail` is for people: what was found, and what was expected."
    yield ""
    yield from _table("name", "status", "means", "what to do", "further fields", "for example")
    for kind in sorted((*KINDS.values(), *OF_SERVER), key=attrgetter("name")):
        fields = ", ".join(f"`{field}`" for field in kind.fields)
        yield _row(f"`{kind.name}`", f"{kind.status:d}", kind.title, kind.advice, fields, kind.example)


def _routes(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            yield method.upper(), path, route


def _problems(route: Schema) -> set[str]:
    bodies = (response.get("content", {}).get(PROBLEM, {}) for response in route["responses"].values())
    return {name for body in bodies for name in body.get("examples", {})}


def _successes(route: Schema) -> str:
    return ", ".join(
        status for status, response in route["responses"].items() if PROBLEM not in response.get("content", {})
    )


def _default_cell(words: str) -> str:
    return words if words == REQUIRED else f"`{words}`" if words else "none"


def _text(documented: object) -> str:
    return _line(inspect.getdoc(documented) or "")


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(". ") + "."


def _line(text: str) -> str:
    return " ".join(text.split())


def _table(*headings: str) -> Iterable[str]:
    return (_row(*headings), _row(*("---" for _ in headings)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "settings.md": _settings,
    "handlers.md": _handlers,
    "api.md": _api,
    "problems.md": _problem_types,
    "fields.md": _invoice_fields,
}
"""The lines of each page in docs/reference, by file name."""


if __name__ == "__main__":
    main()
