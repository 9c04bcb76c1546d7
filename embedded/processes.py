"""Run child processes that never outlive their parent: launch, await, restart after a crash, stop."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from docrail.adapters.store.files import open_private
from docrail.embedded import launch

Report = Callable[[str], None]
"""Receives progress messages: one line per call."""

START_DELAYS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses between attempts at a first start: a predecessor that was just killed may hold a port or lock a little
longer."""
RESTART_DELAYS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Pauses before a crashed program is restarted; the last one repeats."""
STEADY_SECONDS = 20
"""After running this long, a program that crashes is restarted with the shortest pause again."""
POLL_SECONDS = 0.03
LOG_LIMIT = 20 * 2**20
"""A log of this size (bytes) is renamed to *.log.1 at the next start."""


class ProcessError(Exception):
    """Base class of errors of child processes."""


class NotStartedError(ProcessError):
    """A program ended, or did not answer in time, during its start."""

    def __init__(self, name: str, reason: str, log: Path) -> None:
        super().__init__(f"{name} did not start: {reason}. The end of {log}:\n{_tail(log)}")


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run, and how to end it. `user`: the (uid, gid) to run as; None: the current user."""

    name: str
    arguments: tuple[str, ...]
    log: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user: tuple[int, int] | None = None
    reach: bool = False
    """Let another `user` pass through folders closed to others (see launch.become)."""
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0
    """How long it may take to stop before it is killed."""
    death_signal: signal.Signals = signal.SIGKILL
    """Signal that it receives if this process dies without stopping it."""


class Supervised:
    """One program, kept running from `start` until `stop` or `kill`."""

    def __init__(self, program: Program, ready: Callable[[], Awaitable[bool]], report: Report) -> None:
        """`ready` checks whether the program answers; it is called repeatedly while the program starts."""
        self.program = program
        self._ready = ready
        self._report = report
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id; None while there is no process."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and running else None

    async def start(self, *, timeout_seconds: float = 30.0) -> None:
        """Start the program and return when it answers; from then on, a crash restarts it.

        Raises: NotStartedError, leaving nothing running.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._launch_until_ready()
        except TimeoutError:
            await self.kill()
            reason = f"no answer after {timeout_seconds:g} s"
            raise NotStartedError(self.program.name, reason, self.program.log) from None
        except BaseException:
            await self.kill()
            raise
        self._keeper = asyncio.create_task(self._keep_running())

    async def kill(self) -> None:
        """Kill the program as a crash would (SIGKILL), and do not restart it until `start`."""
        await self._end(signal.SIGKILL, 0)

    async def restart(self, *, timeout_seconds: float = 30.0) -> None:
        """Kill the program if it runs, start it and return when it answers. Raises: NotStartedError."""
        await self.kill()
        await self.start(timeout_seconds=timeout_seconds)

    async def stop(self) -> None:
        """Ask the program to end, and kill it after `stop_seconds`."""
        await self._end(self.program.stop_signal, self.program.stop_seconds)

    async def wait_ready(self, *, timeout_seconds: float = 30.0) -> None:
        """Return when the program answers. Raises: TimeoutError."""

        async def claim() -> bool:
            return self.pid is not None and await self._ready()

        await wait_until(claim, timeout_seconds=timeout_seconds)

    async def _launch_until_ready(self) -> None:
        for delay in START_DELAYS:
            self._process = await launch_program(self.program)
            while self._process.returncode is None:
                if await self._ready():
                    return
                await asyncio.sleep(POLL_SECONDS)
            await asyncio.sleep(delay)
        assert self._process is not None
        reason = f"it ended with code {self._process.returncode}, {len(START_DELAYS)} times"
        raise NotStartedError(self.program.name, reason, self.program.log)

    async def _keep_running(self) -> None:
        assert self._process is not None
        clock, crashes = asyncio.get_running_loop().time, 0
        while True:
            started_at = clock()
            code = await self._process.wait()
            _kill_group(self._process.pid)
            if clock() - started_at > STEADY_SECONDS:
                crashes = 0
            delay = RESTART_DELAYS[min(crashes, len(RESTART_DELAYS) - 1)]
            crashes += 1
            where = f"its log: {self.program.log}"
            self._report(f"{self.program.name} ended with code {code} and is started again in {delay:g} s ({where})")
            await asyncio.sleep(delay)
            self._process = await launch_program(self.program)

    async def _end(self, first: signal.Signals, patience_seconds: float) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(first)
        try:
            async with asyncio.timeout(patience_seconds or None):
                await process.wait()
        except TimeoutError:
            self._report(f"{self.program.name} did not end within {patience_seconds:g} s and is killed")
        finally:
            _kill_group(process.pid)
            await process.wait()


async def wait_until(claim: Callable[[], Awaitable[bool]], *, timeout_seconds: float) -> None:
    """Return when `claim` holds. Raises: TimeoutError."""
    async with asyncio.timeout(timeout_seconds):
        while not await claim():  # noqa: ASYNC110 - another process sets no Event
            await asyncio.sleep(POLL_SECONDS)


async def launch_program(program: Program) -> asyncio.subprocess.Process:
    """Start `program` in a session of its own, so that a terminal's Ctrl-C does not reach it.

    It dies with this process.

    The thread that calls this must live as long as the program: to the kernel, that thread is the parent.
    """
    program.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if program.log.exists() and program.log.stat().st_size > LOG_LIMIT:
        program.log.replace(program.log.with_name(program.log.name + ".1"))
    uid, gid = program.user or (os.geteuid(), os.getegid())
    numbers = (int(program.death_signal), os.getpid(), uid, gid, int(program.reach))
    with open_private(program.log, "ab") as log:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", launch.__file__),
            *map(str, numbers),
            *program.arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=program.environment,
            start_new_session=True,
        )


async def run_to_end(program: Program) -> None:
    """Run a program that ends by itself. Raises: NotStartedError if its exit code is not 0."""
    process = await launch_program(program)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if code != 0:
        raise NotStartedError(program.name, f"it ended with code {code}", program.log)


def _kill_group(leader: int) -> None:
    """Kill a program's process group: a program that crashed or was killed could not end its children."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"    {line}" for line in lines[-12:])
