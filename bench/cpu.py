"""Measure the CPU seconds of a running stack by the role of its processes."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROLES = {
    "sandbox.server": "readers",
    "temporal server": "temporal",
    "-m docrail.worker": "workers",
    "docrail server start": "api",
    "postgres": "postgres",
}
"""Parts of the command line that identify a role; the first match counts."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    seconds: float
    """Including its children that have ended."""
    command: str


def cpu_seconds(root: int | None = None) -> dict[str, float]:
    """Return the CPU seconds of all processes below `root` (default: this one) by role. Linux only."""
    processes = _processes()
    used: dict[str, float] = defaultdict(float)
    for pid, role in _roles(processes, root or os.getpid()):
        used[role] += processes[pid].seconds
    return used


def roles(root: int) -> dict[int, str]:
    """Return the role of each process below `root`, by its process id. Linux only."""
    return dict(_roles(_processes(), root))


def _roles(processes: dict[int, _Process], root: int) -> Iterator[tuple[int, str]]:
    for pid, process in processes.items():
        role = next((role for part, role in ROLES.items() if part in process.command), None)
        if role and _is_below(pid, root, processes):
            yield pid, role


def since(before: dict[str, float]) -> dict[str, float]:
    """Return the CPU seconds used since `before`, by role."""
    return {role: seconds - before.get(role, 0) for role, seconds in cpu_seconds().items()}


def _is_below(pid: int, root: int, processes: dict[int, _Process]) -> bool:
    while pid in processes and pid != root:
        pid = processes[pid].parent
    return pid == root


def _processes() -> dict[int, _Process]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue  # it has ended in the meantime
        found[int(folder.name)] = _Process(int(fields[1]), sum(map(int, fields[11:15])) / TICKS, command)
    return found
