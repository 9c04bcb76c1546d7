"""`docrail` as a process that is forked from one with its modules loaded: loading them takes half a second each time.

Arguments, environment, folder, streams and exit code are the process's own. What differs from a command that a person
starts is only where its modules come from; tests about that, and about signals, start Python (tests/cli/process.py).
"""

import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docrail.cli.main import leaves, main

list(leaves())  # the process that is forked imports this module before its first fork
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__, "httpx", "docrail.settings", "docrail.cli.errors"])
PATIENCE_SECONDS = 120.0
AT_ONCE = asyncio.Semaphore(2)
"""More would only wait for each other."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str


async def docrail(*arguments: str, cwd: Path | None = None, **environment: str) -> Ended:
    """Run a command to its end."""
    async with AT_ONCE:
        return await asyncio.to_thread(run, arguments, {**os.environ, **environment}, cwd)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None, *, merged: bool = False
) -> Ended:
    """Run a command to its end, while this thread waits. `merged` puts what it prints on stderr into stdout."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        streams = (out, out if merged else err)
        process = FORKS.Process(target=_command, args=(arguments, environment, cwd or Path.cwd(), streams))
        process.start()
        process.join(PATIENCE_SECONDS)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"docrail {' '.join(arguments)}: {out.read_text()}")
        return Ended(process.exitcode, out.read_text("utf-8"), "" if merged else err.read_text("utf-8"))


def _command(arguments: Sequence[str], environment: Mapping[str, str], cwd: Path, streams: tuple[Path, Path]) -> None:
    """Be the command, in the forked process. Does not return."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(cwd)
    for number, stream in enumerate(streams, 1):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    sys.stdout = os.fdopen(1, "w", encoding=encoding)
    sys.stderr = os.fdopen(2, "w", encoding=encoding, buffering=1)
    sys.argv = ["docrail", *arguments]
    main()
