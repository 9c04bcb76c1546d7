"""Send hostile requests to an API process, and measure what others notice: latency of /healthz, answers, memory.

Each line is one attack of tests/security/attacks.py: the status and size of its answer and the seconds until then, the
latency of /healthz meanwhile (asked every 10 ms by a process of its own) in milliseconds, the longest of it less the
time in which other processes had the cores (what the API itself blocked; the rest is the machine's load), the memory of
the API in MB at its highest and a second after the attack, and the same of its child processes. The first and the last
line of them are idle. The summary at the end has the latency of /healthz while nothing else happened and over all
attacks together, and the memory after the last one. Takes a stack of its own, and four minutes. Names of attacks may be
given.

Last results: see docs/measurements.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import httpx

from docrail.embedded.stack import StackOptions, run_stack
from tests.security.attacks import ATTACKS, Attack
from tests.security.watch import Latency, children_mb, latency_of, resident_mb, watched

IDLE_SECONDS = 3.0
SETTLE_SECONDS = 1.0
ANSWER_SECONDS = 150.0


async def send(client: httpx.AsyncClient, attack: Attack, body: bytes) -> tuple[str, int]:
    headers = {"Content-Type": attack.content_type} if body else {}
    try:
        answer = await client.request(attack.method, attack.path, content=body, headers=headers)
    except httpx.HTTPError as error:
        return type(error).__name__, 0
    return str(answer.status_code), len(answer.content)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was noticed during one attack, or while nothing happened. Memory in MB, a second later."""

    line: dict[str, object]
    waits_ms: list[float]
    memory_mb: float
    children_mb: float


async def run(client: httpx.AsyncClient, pid: int, attack: Attack | None) -> Measured:
    body = attack.body() if attack else b""
    with watched(str(client.base_url), pid) as seen:
        start = perf_counter()
        if attack:
            answers = await asyncio.gather(*(send(client, attack, body) for _ in range(attack.at_once)))
        else:
            answers = await asyncio.sleep(IDLE_SECONDS, [("", 0)])
        seconds = perf_counter() - start
    await asyncio.sleep(SETTLE_SECONDS)
    memory, children = resident_mb(pid), children_mb(pid)
    line: dict[str, object] = {
        "attack": attack.name if attack else "idle",
        "status": " ".join(sorted({status for status, _ in answers})),
        "answer_kb": round(max(size for _, size in answers) / 1024, 1),
        "seconds": round(seconds, 2),
        **rounded(seen.latency),
        "blocked_ms": round(seen.longest_ms, 1),
        "most_mb": round(seen.most_mb),
        "mb": round(memory),
        "children_mb": round(children),
    }
    return Measured(line, seen.found_ms, memory, children)


def rounded(latency: Latency) -> dict[str, object]:
    return {
        f"{name}_ms": round(value, 1)
        for name, value in (("p50", latency.p50), ("p99", latency.p99), ("max", latency.most))
    }


def summary(idle: list[Measured], hostile: list[Measured]) -> dict[str, object]:
    last = hostile[-1]
    return {
        "idle": rounded(latency_of([wait for each in idle for wait in each.waits_ms])),
        "hostile": rounded(latency_of([wait for each in hostile for wait in each.waits_ms])),
        "attacks": len(hostile),
        "mb_afterwards": round(last.memory_mb),
        "children_mb_afterwards": round(last.children_mb),
    }


async def measure(client: httpx.AsyncClient, pid: int, attacks: list[Attack]) -> None:
    """Print a line for each attack, and the summary."""
    idle, hostile = list[Measured](), list[Measured]()
    for attack in [None, *attacks, None]:
        found = await run(client, pid, attack)
        (hostile if attack else idle).append(found)
        print(json.dumps(found.line), flush=True)
    if hostile:
        print(json.dumps(summary(idle, hostile)), flush=True)


async def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="docrail-bench-") as folder:
        options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(options, lambda _: None) as stack:
            pid = stack.api.pid
            assert pid is not None
            async with httpx.AsyncClient(base_url=stack.api_url, timeout=ANSWER_SECONDS, trust_env=False) as client:
                await measure(client, pid, [each for each in ATTACKS if not names or each.name in names])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    sys.exit(asyncio.run(main(parser.parse_args().names)))
