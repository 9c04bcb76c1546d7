"""Measure how the invoice pipeline scales with its workers: 1, 2 and 3, each with the same share of a core.

Every worker with its readers is limited to the share by a control group, so that workers of one machine scale as those
of several machines do, and servers and API take the rest. Prints a line for each number of workers: documents per
second, the ratio to so many times one worker, and the CPU milliseconds a document of each role. Needs root and Linux.
"""

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.cpu import cpu_seconds, since
from bench.pipeline import documents, process, upload
from docrail.embedded.processes import Supervised
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.stack import descendants

PERIOD_MICROSECONDS = 20_000
GROUPS_V1 = Path("/sys/fs/cgroup/cpu")
GROUPS_V2 = Path("/sys/fs/cgroup")
SERVERS = ("temporal", "postgres", "api")


@contextmanager
def limited(workers: Sequence[Supervised], share: float) -> Iterator[None]:
    """Limit each worker with its children to a share of one core, until the block ends."""
    groups = [_group(f"docrail-bench-{os.getpid()}-{number}", share) for number, _ in enumerate(workers)]
    try:
        for worker, group in zip(workers, groups, strict=True):
            assert worker.pid is not None
            _move([worker.pid, *descendants(worker.pid)], group)
        yield
    finally:
        for group in groups:
            _move([int(pid) for pid in (group / "cgroup.procs").read_text().split()], group.parent)
            group.rmdir()


def _group(name: str, share: float) -> Path:
    quota = round(share * PERIOD_MICROSECONDS)
    if GROUPS_V1.is_dir():
        group = GROUPS_V1 / name
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    else:
        group = GROUPS_V2 / name
        group.mkdir()
        (group / "cpu.max").write_text(f"{quota} {PERIOD_MICROSECONDS}")
    return group


def _move(pids: Sequence[int], group: Path) -> None:
    for pid in pids:
        try:
            (group / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:  # it has ended meanwhile
            continue


async def measure(stack: Stack, count: int, share: float) -> tuple[float, dict[str, float]]:
    """Return the documents per second, and the CPU milliseconds a document of each role."""
    await process(stack, documents(10 * len(stack.workers)), upload)  # warm up: each worker has started its readers
    with limited(stack.workers, share):
        before = cpu_seconds()
        _, seconds = await process(stack, documents(count), upload)
        used = since(before)
    return count / seconds, {role: 1000 * spent / count for role, spent in used.items()}


def line_of(workers: int, share: float, rate: float, alone: float, used: dict[str, float]) -> dict[str, Any]:
    servers = sum(used[role] for role in SERVERS)
    return {
        "bench": "scale",
        "workers": workers,
        "core_share_of_each": share,
        "documents_per_second": round(rate, 2),
        "ratio": round(rate / (workers * alone), 2),
        "cpu_ms_per_document": {role: round(spent, 1) for role, spent in sorted(used.items())},
        "servers_share": round(servers / sum(used.values()), 2),
        "servers_cores": round(servers * rate / 1000, 2),
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=60, help="documents for each worker")
    parser.add_argument("--share", type=float, default=0.25, help="share of a core that each worker has")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("bench.scale limits workers by control groups: run it as root")
    alone = 0.0
    for workers in (1, 2, 3):
        with tempfile.TemporaryDirectory() as folder:
            stack_options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0, workers=workers)
            async with run_stack(stack_options, report=lambda _: None) as stack:
                rate, used = await measure(stack, options.documents * workers, options.share)
        alone = alone or rate
        print(json.dumps(line_of(workers, options.share, rate, alone, used)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
