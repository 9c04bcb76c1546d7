"""What commands print: results on stdout, complaints on stderr, lines that fit, colours on a terminal only."""

import datetime as dt
import json
import os
import re
import secrets
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from docrail.dag.values.json_values import Json, strict_json
from docrail.dag.values.printable import escaped_in_json, printable
from docrail.dag.values.suggestions import closest

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AlwaysJson = Annotated[bool, typer.Option("--json", help="No effect: the output is always JSON.", show_default=False)]
Source = Annotated[bool, typer.Option("--source", help="Print the author's text and nothing else.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Show at most this many.", metavar="N")]
VendorFilter = Annotated[
    str | None, typer.Option(help="Only of this vendor: VAT id, or how its name begins.", metavar="TEXT")
]
TextFilter = Annotated[
    str | None, typer.Option(help="Only with this text in file name, vendor, number or total.", metavar="TEXT")
]
Reason = Annotated[str, typer.Option(help="Why; recorded, with your name and the time.", metavar="TEXT")]

PIPE_COLUMNS = 200
"""Width where there is no terminal to ask: wide enough for every table."""

COLOURS = {
    **dict.fromkeys(("completed", "success", "approved", "drained", "ok", "working"), typer.colors.GREEN),
    **dict.fromkeys(("failed", "aborted", "rejected", "completed, not undone", "silent"), typer.colors.RED),
    **dict.fromkeys(("waiting", "paused", "parked", "postponed", "cancelled", "draining"), typer.colors.YELLOW),
    **dict.fromkeys(("completed, being undone", "completed, undone"), typer.colors.YELLOW),
    **dict.fromkeys(("running", "started", "queued", "open"), typer.colors.CYAN),
}
"""By status; one with an addition after a comma has the colour of what is before it unless it is listed itself."""

_MARK = "".join(chr(0xFDD0 + secrets.randbelow(32)) for _ in range(4))
"""Surrounds a coloured status until it is printed. Chosen at each start, so that no stranger's text contains it."""

_MARKED = re.compile(f"{_MARK}(.*?){_MARK}")


def visible(text: str) -> str:
    """Return `text` safe to print: names and documents come from strangers. Marks of `coloured` stay."""
    return _MARK.join(printable(part, lines=True) for part in text.split(_MARK))


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a text on stdout or `stream` at once, also into a pipe; on a terminal long lines are folded."""
    stream = stream or sys.stdout
    lines = visible(text).split("\n")
    if stream and stream.isatty():  # None: closed by the caller
        width = columns(stream)
        lines = [part for line in lines for part in (folded(line, width) if len(line) > width else [line])]
    say_unfolded("\n".join(lines), stream)


def say_unfolded(text: str, stream: TextIO | None = None) -> None:
    """Print a text in lines as they are."""
    painted = _MARKED.sub(lambda found: typer.style(found[1], fg=colour_of(found[1])), visible(text))
    print(painted, file=stream or sys.stdout, flush=True)


def say_source(text: str) -> None:
    """Print a text exactly as its author wrote it; only a terminal gets it made safe."""
    print(visible(text) if sys.stdout.isatty() else text, end="" if text.endswith("\n") else "\n", flush=True)


def complain(message: str) -> None:
    """Print a problem to stderr, apart from results."""
    say(f"docrail: {message}", sys.stderr)


def columns(stream: TextIO) -> int:
    """Return how many columns a line on `stream` has."""
    if (given := os.environ.get("COLUMNS", "")).isdecimal() and int(given):
        return int(given)
    return os.get_terminal_size(stream.fileno()).columns or 80 if stream.isatty() else PIPE_COLUMNS


def folded(line: str, width: int) -> Iterator[str]:
    """Yield the lines that `line` takes at that width, the later ones indented below the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    yield from textwrap.wrap(
        visible(line).strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )


def colour_of(status: str) -> str | None:
    """Return the colour of a status."""
    return COLOURS.get(status) or COLOURS.get(status.partition(",")[0])


def coloured(status: str, stream: TextIO | None = None) -> str:
    """Return a status marked to be printed in its colour if `stream`, by default stdout, is a terminal."""
    plain = colour_of(status) is None or not shows_colours(stream or sys.stdout)
    return status if plain else f"{_MARK}{status}{_MARK}"


def shows_colours(stream: TextIO) -> bool:
    """Return whether a stream is a terminal on which colours are wanted."""
    return stream.isatty() and "NO_COLOR" not in os.environ


def print_json(value: Json) -> None:
    """Print JSON for programs and people."""
    print(visible_json(json.dumps(value, indent=2, ensure_ascii=False)), flush=True)


def visible_json(text: str) -> str:
    """Return a text of JSON with what is unsafe to print escaped as JSON does it: its value stays the same."""
    return printable(text, lines=True, write=escaped_in_json)


def parse_json(option: str, text: str) -> Json:
    """Return the JSON value of an option. Raises: typer.BadParameter, naming the option."""
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        example = """expected JSON such as '{"url": "https://b.example"}'"""
        raise typer.BadParameter(f"{example}, found {text[:60]!r}", param_hint=option) from None


def shortened(text: str) -> str:
    """Return a value that was typed as a message repeats it."""
    longest = 60
    return repr(text if len(text) <= longest else f"{text[:longest]}…")


def expected_one_of(word: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown word: the known one that is probably meant, or all."""
    near = closest(word, known)
    return f": did you mean {near!r}?" if near else f": expected one of {', '.join(map(repr, known))}"


def moment(text: str | None, *, seconds: bool = True) -> str:
    """Return a time of the API, in UTC; empty if there is none."""
    if text is None:
        return ""
    return f"{text[:19] if seconds else text[:16]}Z".replace("T", " ")


def time_of(at: float) -> str:
    """Return a moment in seconds since the epoch, in UTC."""
    return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def complain_of_unmatched(answer: dict[str, Json], thing: str) -> None:
    """Print which filters of an empty list match nothing; `thing` is what is listed, in the singular."""
    for each in answer["unmatched"]:
        meant = f"; did you mean {each['suggestion']!r}?" if each["suggestion"] else ""
        known = ", ".join(map(str, each["known"])) + (", …" if each["has_more"] else "")
        there = f" There is: {known}" if known else ""
        complain(f"no {thing} has the {each['filter']} {each['value']!r}{meant or '.' * bool(there)}{there}")


def program() -> str:
    """Return what to type to run docrail: its name, or its path if the shell would not find it."""
    called = Path(sys.argv[0])
    return "docrail" if shutil.which("docrail") or called.name != "docrail" else str(called)
