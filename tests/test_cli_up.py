"""`docrail up`, as a person meets it: one command starts everything, Ctrl-C ends everything, the data stays."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import httpx
import pytest

from docrail.embedded import temporal
from docrail.embedded.claims import claim_port, hold
from docrail.workflows.contract.names import SEARCH_ATTRIBUTES
from tests.stack import descendants, survivors

pytestmark = pytest.mark.server

CLI = (sys.executable, "-m", "docrail")
FREE_PORTS = ("--port", "0", "--temporal-port", "0", "--ui-port", "0")
READY = "Docrail is ready."
START_SECONDS = 120
PROGRAMS = ("-m\0docrail.worker\0", "-m\0docrail\0server\0start\0")
"""Parts of the command lines of a worker and of the API."""
ANOTHERS = {
    "TEMPORAL_ADDRESS": "theirs.example:7233",
    "TEMPORAL_TLS": "true",
    "TEMPORAL_API_KEY": "theirs",
    "DOCRAIL_BUILD_ID": "2026-11-21",
}
"""Temporal's own variables, set up for another server: ours must not be looked for there, or by TLS. And a build, as a
fleet's workers have: no one would send ours any runs."""


class Up:
    """A running `docrail up` and what it has printed."""

    def __init__(self, data_dir: Path, *arguments: str, **variables: str) -> None:
        command = (*CLI, "up", "--data", str(data_dir), *(arguments or FREE_PORTS))
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **ANOTHERS, **variables},
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.lines.extend(iter(output.readline, ""))

    def wait_for(self, text: str) -> str:
        """Return the first line with `text`; fail when it does not come."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._reader.is_alive():
            if found := [line for line in self.lines if text in line]:
                return found[0]
            self._reader.join(0.02)
        return next((line for line in self.lines if text in line), "") or pytest.fail(f"no {text!r} in {self.lines}")

    def end(self, number: signal.Signals) -> int:
        """Send a signal, and return the process's code when it has ended and its output is read."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(10)
        return code

    def address(self, name: str) -> str:
        self.wait_for("Ctrl-C stops it.")
        return re.sub(rf"^ +{name} +", "", self.wait_for(f"  {name} ")).split()[0]

    def pids(self) -> set[int]:
        return descendants(self.process.pid)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all: so each test also starts on what the one before left, which may have been killed."""
    return tmp_path_factory.mktemp("up") / "data"


@pytest.fixture
def up(data_dir: Path) -> Iterator[Up]:
    running = Up(data_dir)
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGKILL)


def ready(up: Up) -> httpx.Response:
    return httpx.get(up.address("Console") + "/readyz", trust_env=False, timeout=10)


def ended(pids: set[int]) -> bool:
    deadline = time.monotonic() + 15
    while survivors(pids) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return not survivors(pids)


def test_it_says_what_it_does_and_where_everything_is_and_ctrl_c_leaves_nothing(up: Up, data_dir: Path) -> None:
    assert ready(up).status_code == 200
    assert "\n".join(up.lines).count("starting") >= 3
    assert (data_dir / "secrets" / "default" / "webhooks").read_text().startswith("whsec_")
    assert httpx.get(up.address("API") + "/definitions", trust_env=False).status_code == 200
    assert httpx.get(up.address("Temporal UI"), trust_env=False).status_code == 200
    children = up.pids()
    assert len(children) >= 4
    assert up.end(signal.SIGINT) == 0
    assert ended(children)

    metrics_port = str(claim_port(0, "DOCRAIL_WORKER_METRICS_PORT"))
    again = Up(data_dir, DOCRAIL_WORKER_METRICS_PORT=metrics_port)
    assert "the database is up to date" in again.wait_for("database")
    assert again.address("Metrics") == f"http://127.0.0.1:{metrics_port}/metrics"
    page = httpx.get(again.address("Metrics"), trust_env=False)
    assert page.status_code == 200
    shown = set(re.findall(r"^# TYPE (\w+)", page.text, re.MULTILINE))
    assert {"docrail_lake_files_compacted_total", "temporal_worker_task_slots_available"} <= shown
    assert again.end(signal.SIGTERM) == 0


def test_nothing_outlives_it_when_it_is_killed(up: Up) -> None:
    up.wait_for(READY)
    children = up.pids()
    up.end(signal.SIGKILL)
    assert ended(children)


def test_a_killed_worker_and_api_come_back_and_nothing_else_ends(up: Up) -> None:
    assert ready(up).status_code == 200
    children = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in descendants(up.process.pid)}
    programs = {pid for pid, command in children.items() if any(program in command for program in PROGRAMS)}
    servers = {pid for pid, command in children.items() if "start-dev" in command or "postgres\0-D" in command}
    assert len(programs) == len(servers) == 2
    for pid in programs:
        os.kill(pid, signal.SIGKILL)
    up.wait_for("worker 1 ended with code -9 and is started again")
    up.wait_for("the API ended with code -9 and is started again")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and not is_ready_again(up):
        threading.Event().wait(0.05)
    assert ready(up).status_code == 200
    assert survivors(servers) == servers


def is_ready_again(up: Up) -> bool:
    try:
        return ready(up).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_second_one_on_the_same_folder_is_refused(up: Up, data_dir: Path) -> None:
    up.wait_for("starting PostgreSQL")
    second = Up(data_dir)
    assert second.process.wait(START_SECONDS) == 1
    assert f"in use by another docrail (pid {up.process.pid})" in second.wait_for("docrail:")


@pytest.mark.parametrize("option", ["--port", "--temporal-port", "--ui-port"])
def test_a_taken_port_is_named_before_anything_is_started(option: str, data_dir: Path) -> None:
    with closing(socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        refused = Up(data_dir, *FREE_PORTS, option, port)
        assert refused.process.wait(START_SECONDS) == 1
    message = refused.wait_for("docrail:")
    assert f"port {port} is taken by another program" in message
    assert f"{option} 0" in message
    assert not any("starting" in line for line in refused.lines)


def test_ctrl_c_while_it_starts_ends_it_cleanly(up: Up) -> None:
    up.wait_for("starting Temporal")
    children = up.pids()
    assert up.end(signal.SIGINT) == 0
    assert ended(children)
    assert not any("Traceback" in line for line in up.lines)


async def test_the_data_of_an_older_release_gets_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporal's dev server registers search attributes for a new database only; runs would hang for lack of one."""
    monkeypatch.setattr(temporal, "SEARCH_ATTRIBUTES", temporal.SEARCH_ATTRIBUTES[:-1])
    with hold(tmp_path):
        older = await temporal.start_temporal(tmp_path, 0, 0, report=print)
        await older.process.stop()
    up = Up(tmp_path)
    try:
        up.wait_for(READY)
        assert f"registered the search attribute {SEARCH_ATTRIBUTES[-1].name}\n" in up.lines
    finally:
        assert up.end(signal.SIGINT) == 0
