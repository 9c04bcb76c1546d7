"""How pages are tested: finds their snippets, runs their commands, compares what is printed with what is shown."""

import asyncio
import os
import re
import shlex
import shutil
import sys
import sysconfig
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from typer.core import TyperGroup

from docrail.cli.main import assemble
from docrail.cli.servers import addresses
from docrail.embedded.fake_gemini.scenarios import ScenarioError, parse_script
from docrail.embedded.stack import Stack
from tests.commands import run

ROOT = Path(__file__).parent.parent
PROMPT = "$ "
REFUSED = '"type":"/problems/'
COMMAND_SECONDS = 90
PATIENCE_SECONDS = 90
"""How long a page's reader would look again at something that is under way."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced snippet. `file`: the name to save it under, the second word after the fence."""

    page: Path
    line: int
    language: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A command and what the page shows of its output; None where it shows nothing."""

    command: str
    shown: str | None


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in re.finditer(r"^```(\w*) ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found[1], found[2], found[3])


def exchanges_of(block: Block) -> Iterator[Exchange]:
    """Yield the commands: in a console block the lines after a prompt, in any other block every line."""
    if block.language != "console":
        for line in block.text.splitlines():
            if command := line.partition("  #")[0].strip():
                yield Exchange(command, None)
        return
    for part in re.split(rf"^{re.escape(PROMPT)}", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield Exchange(command, shown or None)


def fits(shown: str, printed: str) -> bool:
    """Return whether the page matches the output; `...` matches anything in a line, or any lines if alone.

    Differences in column width are ignored.
    """
    lines = [r"(.*\n)*?" if line == "..." else _line_pattern(line) for line in _even(shown)]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in _even(printed))) is not None


def _line_pattern(line: str) -> str:
    return ".*?".join(re.escape(part) for part in line.split("...")) + r"\n"


def _even(text: str) -> list[str]:
    return [re.sub(r"─+", "─", " ".join(line.split())) for line in text.strip().splitlines()]


class Reader:
    """Follows a page at a running stack: saves its files in `folder`, enters its commands there."""

    def __init__(self, folder: Path, stack: Stack, started: list[str]) -> None:
        self.folder = folder
        self._stack = stack
        self._started = [*started, "", "Docrail is ready.", *addresses(stack, folder / "var")]
        self._places = {
            "http://127.0.0.1:8000": stack.api_url,
            "http://127.0.0.1:8233": stack.temporal.ui_url,
            "temporal.internal:7233": stack.temporal.address,
            "postgresql://docrail:secret@postgres.internal:5432/docrail": stack.postgres.dsn,
            "/srv/docrail": str(folder / "srv"),
        }
        for name in ("samples", "definitions"):
            (folder / name).symlink_to(ROOT / name)
        (folder / ".venv").symlink_to(sys.prefix)
        self._environment = _environment(folder / "bin", stack.environment, stack.api_url)

    async def follow(self, block: Block) -> None:
        """Do what a block asks for; fail the test where something else comes of it than the page shows."""
        if block.file:
            file = self.folder / block.file
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, "utf-8")
        if block.language == "ini":
            self._environment |= settings_of(self._here(block.text))
        if block.language in ("console", "sh"):
            for exchange in exchanges_of(block):
                await self._enter(block, exchange)

    async def _enter(self, block: Block, exchange: Exchange) -> None:
        printed = self._known(exchange.command)
        if printed is None:
            printed = await self._wait_for(exchange) if _only_reads(exchange.command) else await self._run(exchange)
        if exchange.shown is not None and not fits(exchange.shown, printed):
            pytest.fail(f"{block}\n$ {exchange.command}\nshows\n{exchange.shown}\nbut printed is\n{printed}", False)

    def _known(self, command: str) -> str | None:
        """Return the output of what is not run (again): it is checked to be possible. None for everything else."""
        match shlex.split(command):
            case ["make", target]:
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), command
            case ["docrail", "up", *arguments]:
                assemble().commands["up"].make_context("up", arguments)  # refuses an option that it does not have
                return "\n".join(self._there(line) for line in self._started)
            case ["docrail", "server" | "worker" as noun, "start", *arguments]:
                cast("TyperGroup", assemble().commands[noun]).commands["start"].make_context("start", arguments)
                return "\n".join(self._there(line) for line in self._started)
            case ["docrail", "server", "fake-gemini", "--scenario", script] if _is_script(
                script
            ):  # it would serve for ever
                return "DOCRAIL_GEMINI_BASE_URL=http://127.0.0.1:9200\nDOCRAIL_GEMINI_API_KEY=any"
            case [".", ".venv/bin/activate"]:
                assert shutil.which("docrail", path=self._environment["PATH"])
            case _:
                return None
        return ""

    async def _wait_for(self, exchange: Exchange) -> str:
        """Return what a command that changes nothing prints, when that is what is shown, or in the end."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            printed = await self._run(exchange)
            if exchange.shown is None or fits(exchange.shown, printed) or time.monotonic() > deadline:
                return printed
            await asyncio.sleep(0.05)  # before the command runs again, until the deadline

    async def _run(self, exchange: Exchange) -> str:
        command = self._here(exchange.command)
        code, output = await (self._docrail(command) if is_plain(command) else self._shell(command))
        printed = self._there(output)
        if exchange.shown is None:  # nothing is shown, so nothing may go wrong
            assert code == 0, f"{exchange.command}: {printed}"
            assert REFUSED not in printed, exchange.command
        return printed

    async def _docrail(self, command: str) -> tuple[int, str]:
        words = shlex.split(command)[1:]
        ended = await asyncio.to_thread(run, words, self._environment, self.folder, merged=True)
        return ended.code, ended.out

    async def _shell(self, command: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_shell(
            command, cwd=self.folder, env=self._environment, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        output, _ = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        assert process.returncode is not None
        return process.returncode, output.decode()

    def _here(self, text: str) -> str:
        """Return `text` with the addresses of this test's stack."""
        for printed, real in self._places.items():
            text = text.replace(printed, real)
        return text

    def _there(self, text: str) -> str:
        """Return `text` with the addresses on the pages."""
        for printed, real in self._places.items():
            text = text.replace(real, printed)
        return text


def is_plain(command: str) -> bool:
    """Return whether a command is docrail and its arguments, with nothing that only a shell understands."""
    unquoted = re.sub(r"""'[^']*'|"[^"$`\\]*\"""", "", command)
    return unquoted.startswith("docrail ") and re.search(r"[^\w\s./:=@,+-]", unquoted) is None


def settings_of(text: str) -> dict[str, str]:
    """Return the variables that the lines of an ini block set."""
    return dict(line.split("=", 1) for line in text.split())


def _is_script(text: str) -> bool:
    with suppress(ScenarioError):
        return bool(parse_script(text))
    return False


def _only_reads(command: str) -> bool:
    return command.startswith("curl ") and not re.search(r" -[XFd] ", command)


def _environment(folder: Path, stack: Mapping[str, str], api_url: str) -> dict[str, str]:
    """Return a shell's environment in which docrail speaks to the stack, and a curl is found on every machine."""
    folder.mkdir()
    stand_in = folder / "curl"
    stand_in.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent / "curl.py"}" "$@"\n')
    stand_in.chmod(0o755)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("DOCRAIL_")}
    path = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"], str(folder)))
    return {**ours, **stack, "DOCRAIL_API_URL": api_url, "PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
