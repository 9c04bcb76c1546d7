"""Run documents of five no-op steps with DBOS on PostgreSQL: one step, three side by side, one. Prints a JSON line."""

import asyncio
import json
import resource
import sys
import time

from dbos import DBOS, SetWorkflowID  # type: ignore[import-not-found,unused-ignore]

IN_FLIGHT = 40


@DBOS.step()  # type: ignore[untyped-decorator,unused-ignore]
async def noop(document: str, step: str) -> str:
    return f"{document}/{step}"


@DBOS.workflow()  # type: ignore[untyped-decorator,unused-ignore]
async def run(document: str) -> int:
    await noop(document, "first")
    middle = await asyncio.gather(*(noop(document, f"s{number}") for number in range(3)))
    await noop(document, "last")
    return len(middle) + 2


async def saturate(prefix: str, count: int) -> float:
    """Return the seconds that so many documents take, some at the same time."""
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(number: int) -> None:
        async with slots:
            with SetWorkflowID(f"{prefix}-{number}"):
                assert await run(f"{prefix}-{number}") == 5

    begun = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(count)))
    return time.perf_counter() - begun


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main(url: str, count: int) -> None:
    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})
    DBOS.launch()
    await saturate("warm", max(20, count // 10))
    before = cpu()
    print("begin", flush=True)
    seconds = await saturate("doc", count)
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu() - before}), flush=True)
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
