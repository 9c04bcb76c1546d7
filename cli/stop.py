"""How commands are stopped by a signal."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import typer

T = TypeVar("T")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The exit code of a command that was stopped, as shells have it for Ctrl-C."""


def run_or_exit(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what `main()` returns. Raises: typer.Exit after a signal."""
    answer = run_until_stopped(main)
    if answer is None:
        raise typer.Exit(INTERRUPTED)
    return answer


def run_until_stopped(main: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
    """Return what `main()` returns, None if a signal stopped it.

    SIGINT, SIGTERM and SIGHUP cancel it, so that it cleans up. A second signal ends us at once.
    """

    async def run() -> T | None:
        task = asyncio.create_task(main())
        loop = asyncio.get_running_loop()

        def stop() -> None:
            for number in STOP_SIGNALS:
                # The kernel ends our children when we die (embedded/launch.py).
                loop.add_signal_handler(number, os._exit, INTERRUPTED)
            task.cancel()

        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, stop)
        with suppress(asyncio.CancelledError):
            return await task
        return None

    return asyncio.run(run())
