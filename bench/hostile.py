"""Send hostile requests to an API process, and measure what others notice: latency of /healthz, answers, memory.

Each line is one attack of tests/security/attacks.py: the status and size of its answer and the seconds until then, the
latency of /healthz meanwhile (asked every 10 ms by a process of its own) in milliseconds, the resident memory of the
API in MB at its highest and a second after the attack, and the same of its child processes. The first and the last
line are idle. Takes a stack of its own, and four minutes. Names of attacks may be given.

Last results (2 busy cores): see docs/measurements.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import httpx

from docrail.embedded.stack import StackOptions, run_stack
from tests.security.attacks import ATTACKS, Attack
from tests.security.watch import children_mb, resident_mb, watched

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


async def run(client: httpx.AsyncClient, pid: int, attack: Attack | None) -> dict[str, object]:
    body = attack.body() if attack else b""
    with watched(str(client.base_url), pid) as seen:
        start = perf_counter()
        if attack:
            answers = await asyncio.gather(*(send(client, attack, body) for _ in range(attack.at_once)))
        else:
            answers = await asyncio.sleep(IDLE_SECONDS, [("", 0)])
        seconds = perf_counter() - start
    await asyncio.sleep(SETTLE_SECONDS)
    return {
        "attack": attack.name if attack else "idle",
        "status": " ".join(sorted({status for status, _ in answers})),
        "answer_kb": round(max(size for _, size in answers) / 1024, 1),
        "seconds": round(seconds, 2),
        "p50_ms": round(seen.latency.p50, 1),
        "p99_ms": round(seen.latency.p99, 1),
        "max_ms": round(seen.latency.most, 1),
        "most_mb": round(seen.most_mb),
        "mb": round(resident_mb(pid)),
        "children_mb": round(children_mb(pid)),
    }


async def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="docrail-bench-") as folder:
        options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(options, lambda _: None) as stack:
            pid = stack.api.pid
            assert pid is not None
            async with httpx.AsyncClient(base_url=stack.api_url, timeout=ANSWER_SECONDS, trust_env=False) as client:
                for attack in [None, *(each for each in ATTACKS if not names or each.name in names), None]:
                    print(json.dumps(await run(client, pid, attack)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    sys.exit(asyncio.run(main(parser.parse_args().names)))
