"""CPU seconds that a running stack has used, by what its processes are."""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROLES = {
    "sandbox.server": "readers",
    "temporal server": "temporal",
    "-m docrail.worker": "workers",
    "docrail server start": "api",
    "postgres": "postgres",
}
"""What tells a process of ours by its command line; the first that fits counts."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    seconds: float
    """With those of its children that have ended."""
    command: str


def cpu_seconds(root: int | None = None) -> dict[str, float]:
    """Return the CPU seconds of all processes below `root`, this one if it is not given, by role. Linux alone."""
    processes = _processes()
    used: dict[str, float] = defaultdict(float)
    for pid, process in processes.items():
        role = next((role for part, role in ROLES.items() if part in process.command), None)
        if role and _is_below(pid, root or os.getpid(), processes):
            used[role] += process.seconds
    return used


def since(before: dict[str, float]) -> dict[str, float]:
    """Return the CPU seconds used by role since `before` was told."""
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
            continue  # it has ended meanwhile
        found[int(folder.name)] = _Process(int(fields[1]), sum(map(int, fields[11:15])) / TICKS, command)
    return found
