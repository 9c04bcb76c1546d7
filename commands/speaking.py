"""How commands speak to a person: progress and results on stdout, complaints on stderr, names that can be typed."""

import re
import shutil
import sys
from pathlib import Path
from typing import IO, Any, cast

from rich import box
from rich.console import Console
from rich.table import Table

from embedded.stack import Stack

PIPE_COLUMNS = 200
"""Where there is no terminal to ask: wide enough for every table."""


CONTROLS = re.compile(r"(\x1b\[[0-9;]*m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal obeys instead of showing it; but for colours, as rich writes them."""


def visible(text: str) -> str:
    """Return `text` with its control characters as a person can read them: names and documents are strangers'."""
    return CONTROLS.sub(lambda found: found[1] or f"\\x{ord(found[0]):02x}", text)


class _Visible:
    """A stream on which only what is visible is written."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def say(line: str) -> None:
    """Print a line of progress at once, also into a pipe."""
    print(visible(line), flush=True)


def complain(message: str) -> None:
    """Print what went wrong to stderr, so that it is not taken for a result."""
    print(f"docrail: {visible(message)}", file=sys.stderr, flush=True)


def console() -> Console:
    """Return where tables are printed. What documents and errors say is text: `[b]` in it is no markup."""
    width = None if sys.stdout.isatty() else PIPE_COLUMNS
    return Console(file=cast("IO[str]", _Visible(sys.stdout)), width=width, markup=False, emoji=False, highlight=False)


def table() -> Table:
    """Return an empty table in the style of all our tables."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def program() -> str:
    """Return what to type to run docrail: its name, or its path if the shell would not find it."""
    called = Path(sys.argv[0])
    return "docrail" if shutil.which("docrail") or called.name != "docrail" else str(called)


def addresses(stack: Stack, data_dir: Path) -> list[str]:
    """Return the lines that tell a person where everything is."""
    return [
        f"  API          {stack.api_url}  (what it offers: {stack.api_url}/docs)",
        f"  Temporal UI  {stack.temporal.ui_url}",
        f"  Temporal     {stack.temporal.address}",
        f"  PostgreSQL   {stack.postgres.dsn}",
        *(f"  Metrics      {url}" for url in stack.metrics_urls),
        f"  Data, logs   {data_dir.absolute()}",
        "Ctrl-C stops it.",
    ]
