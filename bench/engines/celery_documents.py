"""Run documents of five no-op steps with Celery on PostgreSQL: one step, three side by side, one. Prints a JSON line.

Messages and results are in PostgreSQL, so that a killed worker loses no document, as with the other engines: a message
is acknowledged after its task. Celery waits for steps side by side by asking for their results, here every 100 ms.
"""

import json
import resource
import sys
import time
from typing import Any

from celery import Celery, chain, group  # type: ignore[import-not-found,unused-ignore]
from celery.contrib.testing.worker import start_worker  # type: ignore[import-not-found,unused-ignore]

THREADS = 8
app = Celery("bench")


@app.task  # type: ignore[untyped-decorator,unused-ignore]
def first(document: str) -> str:
    return f"{document}/first"


@app.task  # type: ignore[untyped-decorator,unused-ignore]
def middle(before: str, step: int) -> str:
    return f"{before}/{step}"


@app.task  # type: ignore[untyped-decorator,unused-ignore]
def last(before: list[str]) -> int:
    return len(before) + 2


def saturate(prefix: str, count: int) -> float:
    """Return the seconds that so many documents take, some at the same time."""
    begun = time.perf_counter()
    sent: list[Any] = []
    for number in range(count):
        steps = chain(first.s(f"{prefix}-{number}"), group(middle.s(step) for step in range(3)), last.s())
        sent.append(steps.apply_async())
    for result in sent:
        assert result.get(timeout=600, interval=0.05) == 5
    return time.perf_counter() - begun


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(url: str, count: int) -> None:
    app.conf.update(
        broker_url=f"sqla+{url}",
        result_backend=f"db+{url}",
        task_acks_late=True,
        result_chord_retry_interval=0.1,
        worker_prefetch_multiplier=1,
    )
    with start_worker(app, pool="threads", concurrency=THREADS, perform_ping_check=False):
        saturate("warm", max(20, count // 10))
        before = cpu()
        print("begin", flush=True)
        seconds = saturate("doc", count)
        print(json.dumps({"seconds": seconds, "cpu_seconds": cpu() - before}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
