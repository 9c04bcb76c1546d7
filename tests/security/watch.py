"""Watch an API process from outside: the latency of /healthz, and the memory of the process."""

import http.client
import multiprocessing
import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from urllib.parse import urlsplit

from tests.stack import descendants

PAUSE_SECONDS = 0.01
ANSWER_SECONDS = 120.0
MEGABYTE = 1024


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of /healthz in milliseconds."""

    p50: float
    p99: float
    most: float


@dataclass(slots=True)
class Watched:
    """What was noticed while a block ran. The latency is known at its end."""

    pid: int
    most_mb: float = 0.0
    found_ms: list[float] = field(default_factory=list)
    queued_ms: list[float] = field(default_factory=list)
    """For each answer, how long both event loops could run but other processes had the cores."""

    @property
    def latency(self) -> Latency:
        """Return the latency of /healthz during the block."""
        return latency_of(self.found_ms)

    @property
    def longest_ms(self) -> float:
        """Return the longest wait for an answer, less the time that other processes took from both sides."""
        return max(wait - queued for wait, queued in zip(self.found_ms, self.queued_ms, strict=True))


def latency_of(found_ms: list[float]) -> Latency:
    """Return the latency that some answers had together."""
    ordered = sorted(found_ms)
    return Latency(statistics.median(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1])


@contextmanager
def watched(url: str, pid: int) -> Iterator[Watched]:
    """Ask /healthz every 10 ms from a process of its own while the block runs, and take the API's highest memory."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_probe, args=(url, pid, theirs))
    process.start()
    ours.recv()  # it has started
    seen, over = Watched(pid), Event()
    watching = Thread(target=_watch_memory, args=(seen, over))
    watching.start()
    try:
        yield seen
    finally:
        ours.send(None)
        seen.found_ms, seen.queued_ms = ours.recv()
        over.set()
        process.join()
        watching.join()


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / MEGABYTE


def kept_mb(pid: int) -> dict[int, float]:
    """Return the memory of a process and of each that it has started, by pid; what they share counts once."""
    return {each: _share_mb(each) for each in [pid, *descendants(pid)]}


def _share_mb(pid: int) -> float:
    """Return the memory of a process, with a share of what it shares (proc(5), Pss); 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / MEGABYTE


def children_mb(pid: int) -> float:
    """Return the resident memory of all processes that `pid` has started."""
    return sum(map(resident_mb, descendants(pid)))


def _probe(url: str, pid: int, connection: Connection) -> None:
    """Ask /healthz until a message arrives, and send the latencies."""
    at = urlsplit(url)
    asking = http.client.HTTPConnection(str(at.hostname), at.port, timeout=ANSWER_SECONDS)
    found: list[float] = []
    queued: list[float] = []
    connection.send(None)
    while not found or not connection.poll(PAUSE_SECONDS):
        start, before = perf_counter(), _queued_ms(pid)
        asking.request("GET", "/healthz")
        asking.getresponse().read()
        found.append((perf_counter() - start) * 1000)
        queued.append(_queued_ms(pid) - before)
    connection.send((found, queued))


def _queued_ms(pid: int) -> float:
    """Return how long the main thread of `pid` and this process have waited for a core; 0 if the system counts none."""
    try:
        states = [Path(f"/proc/{each}/task/{each}/schedstat").read_text() for each in (pid, os.getpid())]
    except OSError:
        return 0.0
    return sum(int(state.split()[1]) for state in states) / 1_000_000


def _watch_memory(seen: Watched, over: Event) -> None:
    while not over.wait(PAUSE_SECONDS):
        seen.most_mb = max(seen.most_mb, resident_mb(seen.pid))
