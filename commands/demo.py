"""`docrail demo`: the whole system on this machine, shown with the sample invoices."""

import asyncio
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import httpx
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from commands.client import ENDED, POLL_SECONDS, answer
from commands.stopping import run_until_stopped
from dag.values import Json
from embedded.stack import Stack, StackOptions, run_stack

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
DEADLINE_SECONDS = 120.0
"""Most that the samples may take: a slow machine needs a tenth of it."""
INTERRUPTED = 130
"""A shell's exit code for Ctrl-C."""
PIPE_COLUMNS = 150
"""Where there is no terminal to ask: wide enough for the table."""
SUFFIXES = frozenset({".pdf", ".xml"})


@dataclass(frozen=True, slots=True)
class Shown:
    """One sample's way through the system."""

    file: str
    document: dict[str, Json]
    run: dict[str, Json]
    review: dict[str, Json] | None


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave everything running, until Ctrl-C.")] = False,
) -> None:
    """Start everything in a temporary folder, upload the sample invoices, and show what was read.

    One sample is broken on purpose: its run fails, and says why. Exit code 0 if every sample ended as expected.
    """
    folder = Path(tempfile.mkdtemp(prefix="docrail-demo-"))
    as_expected = run_until_stopped(lambda: _demo(folder, keep=keep))
    if as_expected is None and not keep:
        raise typer.Exit(INTERRUPTED)
    if as_expected is False:
        raise typer.Exit(1)


async def _demo(folder: Path, *, keep: bool) -> bool:
    console = Console(width=None if sys.stdout.isatty() else PIPE_COLUMNS)
    options = StackOptions(data_dir=folder, api_port=0, temporal_port=0, ui_port=0)
    async with run_stack(options, report=lambda line: console.print(line, style="dim", highlight=False)) as stack:
        shown = await process(stack.http, sample_files(), console)
        console.print(_table(shown))
        for line in _places(stack, folder, shown):
            console.print(line, highlight=False, soft_wrap=True)
        if keep:
            console.print(f"\nStill running, with the API at {stack.api_url} ({stack.api_url}/docs). Ctrl-C stops it.")
            await asyncio.get_running_loop().create_future()
    return _as_expected(shown)


def sample_files() -> list[Path]:
    """Return the sample documents, by name."""
    return sorted(path for path in SAMPLES.iterdir() if path.suffix in SUFFIXES)


async def process(client: httpx.AsyncClient, files: Sequence[Path], console: Console) -> list[Shown]:
    """Upload `files`, show progress until their runs have ended, and return what became of each."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console) as progress:
        uploading = progress.add_task("uploaded", total=len(files))
        ending = progress.add_task("ended", total=len(files))
        documents, runs = [], []
        for path in files:
            documents.append(await _upload(client, path))
            progress.advance(uploading)
        async with asyncio.timeout(DEADLINE_SECONDS):
            for document in documents:
                runs.append(await _end_of(client, document["run_id"]))
                progress.advance(ending)
    reviews = {review["document_id"]: review for review in answer(await client.get("/v1/reviews"))["reviews"]}
    return [
        Shown(path.name, document, run, reviews.get(document["document_id"]))
        for path, document, run in zip(files, documents, runs, strict=True)
    ]


async def _upload(client: httpx.AsyncClient, path: Path) -> dict[str, Json]:
    files = {"file": (path.name, path.read_bytes())}  # noqa: ASYNC240 - a small local file
    document: dict[str, Json] = answer(await client.post("/v1/documents", files=files))
    return document


async def _end_of(client: httpx.AsyncClient, run_id: str) -> dict[str, Json]:
    while True:
        run: dict[str, Json] = answer(await client.get(f"/v1/runs/{run_id}"))
        if run["status"] in ENDED:
            return run
        await asyncio.sleep(POLL_SECONDS)


def _table(shown: Sequence[Shown]) -> Table:
    table = Table(title="What was read", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("file", "vendor", "number"):
        table.add_column(heading, no_wrap=True)  # these give way in a narrow terminal, the others do not
    for heading, width in (("date", 10), ("total", 13), ("confidence", 10), ("run", 9), ("priority", 8)):
        table.add_column(heading, min_width=width, no_wrap=True, justify="left" if heading == "run" else "right")
    for sample in shown:
        table.add_row(*_row(sample))
    return table


def _row(sample: Shown) -> tuple[str, ...]:
    status = f"[red]{sample.run['status']}[/]" if sample.run["status"] != "completed" else "completed"
    if sample.review is None:
        return (sample.file, "", "", "", "", "", status, "")
    told = sample.review["summary"]
    total = f"{told['total']} {told['currency'] or ''}".strip() if told["total"] else ""
    texts = (
        told["vendor"] or "",
        told["number"] or "",
        told["date"] or "",
        total,
        f"{math.floor(told['confidence'] * 100) / 100:.2f}",
    )
    return (sample.file, *texts, status, f"{sample.review['priority']:.0f}")


def _places(stack: Stack, folder: Path, shown: Sequence[Shown]) -> list[str]:
    failed = [f"  {sample.file}: {sample.run['reason']}" for sample in shown if sample.run["status"] != "completed"]
    return [
        *(["", "Failed, and why:", *failed] if failed else []),
        "",
        f"Parquet and JSON    {folder / 'lake'}",
        f"Temporal histories  {stack.temporal.ui_url} (while it runs; for one run: {shown[0].run['history_url']})",
        f"Look again          docrail up --data {folder}",
    ]


def _as_expected(shown: Sequence[Shown]) -> bool:
    """Tell whether the samples that cannot be read failed, and all others completed (samples/EXPECTED.json)."""
    told = json.loads((SAMPLES / "EXPECTED.json").read_text("utf-8"))["files"]
    broken = {sample["file"] for sample in told if "unreadable" in sample}
    return all((sample.run["status"] != "completed") is (sample.file in broken) for sample in shown)
