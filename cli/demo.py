"""`docrail demo`: show the whole system on this machine with the sample invoices."""

import asyncio
import datetime as dt
import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from docrail.adapters.logs import configure_logs
from docrail.cli.client import follow
from docrail.cli.listing import ID, NUMBER, STATUS, Kind
from docrail.cli.servers import addresses
from docrail.cli.stop import INTERRUPTED, run_until_stopped
from docrail.cli.tables import console, fits, print_columns, safe
from docrail.cli.terminal import coloured, complain, print_json, program, say
from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.transport import ApiError, Transport

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
DEADLINE_SECONDS = 120.0
"""Maximum time for the samples, and for the desk: a slow machine needs a quarter of it."""
SUFFIXES, PICTURES = frozenset({".pdf", ".xml"}), frozenset({".png"})


@dataclass(frozen=True, slots=True)
class Given:
    """A file to upload."""

    name: str
    content: bytes
    sla_hours: int = 24


@dataclass(frozen=True, slots=True)
class Shown:
    """A sample: its document, its run, its review item."""

    file: str
    document: dict[str, Json]
    run: dict[str, Json]
    review: dict[str, Json] | None

    @property
    def completed(self) -> bool:
        """Whether its run ended well."""
        return bool(self.run["status"] == "completed")


def demo(
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Add sixty invoices to clear in the console, leave it all running, and keep the data."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the samples; progress goes to stderr.")] = False,
) -> None:
    """Read the sample invoices through the whole system.

    Starts Temporal, PostgreSQL, the API and a worker on free ports and in a temporary folder, uploads the samples and
    shows the values that were read, the runs and the review priorities. One sample is broken on purpose: its run fails,
    with the reason. With --keep, sixty invented invoices wait in the console, everything runs until Ctrl-C, and the
    folder is kept; otherwise it is removed at the end.

    Exit codes: 0 every sample ended as expected, with --keep also after Ctrl-C; 1 one did not, or something did not
    start; 2 wrong usage; 130 stopped by Ctrl-C.

    Example: docrail demo --keep
    """
    configure_logs()
    folder = Path(tempfile.mkdtemp(prefix="docrail-demo-"))
    shown: list[Shown] = []
    try:
        ended = run_until_stopped(lambda: _demo(folder, shown, keep=keep, as_json=as_json))
    finally:
        if not (keep and shown):
            shutil.rmtree(folder, ignore_errors=True)
    if ended is None and not (keep and shown):
        complain("the demo was stopped; nothing is left of it")
        raise typer.Exit(INTERRUPTED)
    if surprises := list(_surprises(shown)):
        complain("not as expected:\n" + "\n".join(surprises))
        raise typer.Exit(1)


async def _demo(folder: Path, shown: list[Shown], *, keep: bool, as_json: bool) -> bool:
    """Run the demo and put the samples into `shown` at once: a signal may end us at any time."""
    options = StackOptions(data_dir=folder, api_port=0, temporal_port=0, ui_port=0)
    async with AsyncExitStack() as cleanup:
        stack = await cleanup.enter_async_context(run_stack(options, complain if as_json else say))
        output = Console(stderr=True) if as_json else console()
        client = await cleanup.enter_async_context(Transport(stack.api_url))
        shown += await process(client, sample_files(), output)
        if as_json:
            print_json([asdict(sample) for sample in shown])
        else:
            print_samples(shown)
        if keep:
            await process(client, desk_files(), output)
        if not as_json:
            say("\n".join(_places(stack, folder) if keep else _hint()))
        if keep:
            await asyncio.get_running_loop().create_future()  # until the task is cancelled
    return True


def sample_files() -> list[Given]:
    """Return the sample documents, by name; pictures only where the extra `ocr` can read them."""
    suffixes = SUFFIXES | PICTURES if find_spec("rapidocr") else SUFFIXES
    paths = sorted(path for path in SAMPLES.iterdir() if path.suffix in suffixes)
    return [Given(path.name, path.read_bytes()) for path in paths]


def desk_files() -> list[Given]:
    """Return the sixty invoices of a clerk's desk, with dates around today."""
    from docrail.samples.desk import draw_desk

    today = dt.datetime.now().astimezone().date()
    return [Given(each.name, each.content, each.sla_hours) for each in draw_desk(today)]


async def process(client: Transport, files: Sequence[Given], output: Console) -> list[Shown]:
    """Upload `files`, show progress until their runs have ended, and return each with its result. Raises: ApiError."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=output) as progress:
        uploading = progress.add_task("uploaded", total=len(files))
        ending = progress.add_task("ended", total=len(files))
        documents, runs = [], []
        for given in files:
            documents.append(await _upload(client, given))
            progress.advance(uploading)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                for document in documents:
                    runs.append(await _end_of(client, document["run_id"]))
                    progress.advance(ending)
        except TimeoutError:
            late = files[len(runs)].name
            raise ApiError(f"the run of {late} did not end within {DEADLINE_SECONDS:g} s") from None
    reviews = {review["document_id"]: review for review in (await client.request("GET", "/v1/reviews"))["reviews"]}
    return [
        Shown(given.name, document, run, reviews.get(document["document_id"]))
        for given, document, run in zip(files, documents, runs, strict=True)
    ]


async def _upload(client: Transport, given: Given) -> dict[str, Json]:
    files, hours = {"file": (given.name, given.content)}, {"sla_hours": str(given.sla_hours)}
    document: dict[str, Json] = await client.request("POST", "/v1/documents", files=files, data=hours)
    return document


async def _end_of(client: Transport, run_id: str) -> dict[str, Json]:
    return [report async for report, _ in follow(client, run_id, complain)][-1]


def print_samples(shown: Sequence[Shown]) -> None:
    """Print the values of each sample: a table, or two lines for each where that is too wide."""
    say("")
    headings: list[tuple[str, Kind]] = [(name, ID) for name in ("file", "vendor", "number")]
    headings += [(name, NUMBER) for name in ("date", "total", "confidence")] + [("run", STATUS), ("priority", NUMBER)]
    rows = safe([(sample.file, *_cells(sample)[:-1], sample.run["status"], _cells(sample)[-1]) for sample in shown])
    if fits(headings, rows):
        print_columns(headings, rows)
    else:
        say("\n".join(line for sample in shown for line in _two_lines(sample)))
    if failed := [sample for sample in shown if not sample.completed]:
        say("\nFailed, with the reasons:")
        say("\n".join(f"  {sample.file}: {sample.run['reason']}" for sample in failed))


def _two_lines(sample: Shown) -> Iterator[str]:
    *values, confidence, priority = _cells(sample)
    review = f"  confidence {confidence}, priority {priority}" if priority else ""
    yield f"{sample.file}  {coloured(sample.run['status'])}{review}"
    if any(values):
        yield "    " + ", ".join(filter(None, values))


def _cells(sample: Shown) -> tuple[str, ...]:
    """Return vendor, number, date, total, confidence and priority."""
    if sample.review is None:
        return ("",) * 6
    read = sample.review["summary"]
    return (
        read["vendor"] or "",
        read["number"] or "",
        read["date"] or "",
        f"{read['total']} {read['currency'] or ''}".strip() if read["total"] else "",
        f"{math.floor(read['confidence'] * 100) / 100:.2f}",  # 0.996 is not certain
        f"{sample.review['priority']:.0f}",
    )


def _places(stack: Stack, folder: Path) -> Iterator[str]:
    yield f"\nParquet and JSON    {folder / 'lake'}"
    yield f"Temporal histories  {stack.runs_url}"
    yield "\nStill running. In the console sixty invoices wait for you."
    yield from addresses(stack, folder)


def _hint() -> Iterator[str]:
    yield f"\nTo look around      {program()} demo --keep  (leaves it running, with the console, and keeps its data)"


def _surprises(shown: Sequence[Shown]) -> Iterator[str]:
    """Yield each sample that did not end as samples/EXPECTED.json has it: one that cannot be read fails."""
    expectations = json.loads((SAMPLES / "EXPECTED.json").read_text("utf-8"))["files"]
    unreadable = {sample["file"] for sample in expectations if "unreadable" in sample}
    for sample in shown:
        expected = "failed" if sample.file in unreadable else "completed"
        if sample.run["status"] != expected:
            yield f"  {sample.file}: expected a run that {expected}, found one that {sample.run['status']}"
