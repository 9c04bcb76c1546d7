"""Follow a batch, with a progress bar on a terminal."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import quote

import typer

from docrail.cli.client import (
    connect,
)
from docrail.cli.stop import INTERRUPTED, run_until_stopped
from docrail.cli.terminal import complain
from docrail.dag.values.json_values import Json
from docrail.transport import LONGEST_POLL_SECONDS, PATIENCE_SECONDS, POLL_SECONDS, ApiError, NoAnswerError, Transport

BATCHES = "/v1/batches"

Advance = Callable[[int, int, str], None]
"""Shows how many of how many have been dealt with, and more words."""


def batch_path(batch_id: str, *more: str) -> str:
    """Return the path of a batch, or of a part of it."""
    return "/".join((BATCHES, *(quote(part, safe="") for part in (batch_id, *more))))


def follow_batch(api: str, batch_id: str) -> dict[str, Json]:
    """Show a batch's progress until it has completed, and return it. Raises: typer.Exit after a signal."""

    async def follow() -> dict[str, Json]:
        async with connect(api) as client:
            return await followed(client, batch_id)

    ended = run_until_stopped(follow)
    if ended is None:
        complain(f"the batch {batch_id} goes on without this command")
        raise typer.Exit(INTERRUPTED)
    return ended


async def followed(client: Transport, batch_id: str) -> dict[str, Json]:
    """Show a batch's progress until nothing of it waits or runs, and return it."""
    pause = POLL_SECONDS
    async with bar("ended") as show:
        while True:
            batch = await insisting(client, "GET", batch_path(batch_id))
            counts = batch["counts"]
            left = counts["waiting"] + counts["running"]
            show(counts["total"] - left, counts["total"], words_of(batch))
            if batch["completed_at"] is not None or batch["status"] in ("completed", "cancelled"):
                return batch
            if batch["status"] in ("open", "paused") and not counts["running"]:
                complain(f"the batch is {batch['status']}: nothing of it runs")
                return batch
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_POLL_SECONDS)


async def insisting(client: Transport, method: str, path: str, **request: Json) -> dict[str, Json]:
    """Return the API's answer, asking again for a while if it is unavailable. Raises: ApiError."""
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + PATIENCE_SECONDS, POLL_SECONDS
    while True:
        try:
            answer: dict[str, Json] = await client.request(method, path, **request)
        except ApiError as error:
            busy = isinstance(error, NoAnswerError) or error.kind == "quota-exceeded"
            if not busy or clock() > deadline:
                raise
        else:
            return answer
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_POLL_SECONDS)


def words_of(batch: dict[str, Json]) -> str:
    """Return the rate of a batch, the time left, and the failures by reason, in a line."""
    parts = [f"{batch['per_minute']:.0f}/min"] if batch["per_minute"] else []
    parts += [f"{_span(batch['seconds_left'])} left"] if batch["seconds_left"] else []
    parts += [f"waits for the quota {batch['held_by']}"] if batch["held_by"] else []
    parts += [f"{each['documents']} {each['error_type']}" for each in batch["errors"][:3]]
    return ", ".join(parts)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@asynccontextmanager
async def bar(what: str) -> AsyncIterator[Advance]:
    """Show a progress bar on a terminal's stderr."""
    from rich.console import Console  # few commands need it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from docrail.cli.tables import safe

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[more]}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(what, total=None, more="")

        def advance(done: int, total: int, more: str) -> None:
            progress.update(task, completed=done, total=total, more=safe(more))

        yield advance
