"""`docrail batch`: list batches, show them and their documents, fetch results, control them."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from docrail.adapters.store.files import write_atomic
from docrail.cli.batch_progress import BATCHES, batch_path, follow_batch
from docrail.cli.client import HERE, Api, ask_all, ask_api, connect, given
from docrail.cli.listing import ID, NUMBER, STATUS, TEXT, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import Limit, Reason, moment
from docrail.dag.values.json_values import Json

BatchId = Annotated[str, typer.Argument(help="A batch's id.", metavar="ID")]


class ResultFormat(StrEnum):
    """What a result is written as."""

    JSON = "json"
    CSV = "csv"


def list_batches(*, limit: Limit = 20, api: Api = HERE) -> Printout:
    """List batches, newest first.

    Example: docrail batch list
    """
    page = ask_api(api, "GET", BATCHES, params={"limit": limit})
    headings = {"batch": ID, "status": STATUS, "created": ID, "ended": NUMBER, "failed": NUMBER, "name": TEXT}
    return Printout(page["batches"], [Listing(headings, map(_row, page["batches"])), *older(page)])


def _row(batch: dict[str, Json]) -> list[str]:
    counts = batch["counts"]
    ended = counts["total"] - counts["waiting"] - counts["running"]
    created = moment(batch["created_at"], seconds=False)
    failed = str(counts["failed"] or "")
    return [batch["batch_id"], batch["status"], created, f"{ended}/{counts['total']}", failed, batch["name"]]


def show(
    batch: BatchId,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it has completed.")] = False,
    api: Api = HERE,
) -> Printout:
    """Show a batch: states, time left, errors.

    Ctrl-C ends the command, not the batch.

    Example: docrail batch show bat_0f9c6c4b3a2d4e5f8a7b6c5d4e --wait
    """
    found = follow_batch(api, batch) if wait else ask_api(api, "GET", batch_path(batch))
    return Printout(found, [*of_batch(found)])


def documents(
    batch: BatchId,
    *,
    state: Annotated[
        str | None,
        typer.Option(help="Only these: waiting, running, asking, done, failed or cancelled.", metavar="STATE"),
    ] = None,
    limit: Limit = 100,
    api: Api = HERE,
) -> Printout:
    """List the documents of a batch, in their order.

    Example: docrail batch documents bat_0f9c6c4b3a2d4e5f8a7b6c5d4e --state failed
    """
    page = ask_api(api, "GET", batch_path(batch, "documents"), params={"state": state, "limit": limit})
    headings = {"document": ID, "state": STATUS, "place": TEXT, "error": TEXT}
    more = [] if page["after"] is None else ["… and more"]
    return Printout(page["documents"], [Listing(headings, map(_document_row, page["documents"])), *more])


def _document_row(found: dict[str, Json]) -> list[str]:
    error = ": ".join(filter(None, (found["error_type"], found["error_message"])))
    return [found["document_id"], found["state"], found["place"], error]


def result(
    batch: BatchId,
    file: Annotated[Path | None, typer.Argument(help="File to write; default: ID.FORMAT.", metavar="FILE")] = None,
    format: Annotated[ResultFormat, typer.Option(help="What to write.")] = ResultFormat.CSV,  # noqa: A002
    api: Api = HERE,
) -> Printout:
    """Write the result of a batch to a file.

    It has a row for each document, with what was read.

    Example: docrail batch result bat_0f9c6c4b3a2d4e5f8a7b6c5d4e november.csv
    """
    to = file or Path(f"{batch}.{format.value}")
    if format is ResultFormat.CSV:
        content = run_or_exit(lambda: _fetched(api, batch_path(batch, "result.csv")))
    else:
        content = _json_of(ask_all(api, batch_path(batch, "result"), "documents", limit=500))
    write_atomic(to, content)
    return Printout({"batch_id": batch, "file": str(to), "bytes": len(content)}, f"wrote {to}")


async def _fetched(api: str, path: str) -> bytes:
    async with connect(api) as client:
        return await client.fetch(path)


def pause(batch: BatchId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Start no more runs of a batch; open ones go on.

    Example: docrail batch pause bat_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "the bank is closed"
    """
    return _acted(api, batch, "pause", {"reason": reason})


def resume(batch: BatchId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Start runs of a paused batch again.

    Example: docrail batch resume bat_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    return _acted(api, batch, "resume", {"reason": reason})


def cancel(batch: BatchId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Start no more runs of a batch, and cancel the open ones.

    Example: docrail batch cancel bat_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    return _acted(api, batch, "cancel", {"reason": reason})


def retry(
    batch: BatchId,
    error: Annotated[
        str | None, typer.Option(help="Only those that failed with this error class.", metavar="CLASS")
    ] = None,
    api: Api = HERE,
) -> Printout:
    """Try the failed documents of a batch again.

    Example: docrail batch retry bat_0f9c6c4b3a2d4e5f8a7b6c5d4e --error TimeoutError
    """
    return _acted(api, batch, "retry", given(error_type=error))


def _acted(api: str, batch_id: str, act: str, body: dict[str, Json]) -> Printout:
    found = ask_api(api, "POST", batch_path(batch_id, act), json=body)
    return Printout(found, [*of_batch(found)])


def of_batch(batch: dict[str, Json]) -> Iterator[str | Listing]:
    """Yield a batch for people: its state, its counts, and why documents failed."""
    counts = {name: number for name, number in batch["counts"].items() if number and name != "total"}
    numbers = ", ".join(f"{number} {name}" for name, number in counts.items()) or "no documents yet"
    yield f"{batch['batch_id']} {batch['status']}: {numbers}"
    if batch["duplicates"]:
        yield f"  {batch['duplicates']} places have the content of another: they were not run"
    if batch["held_by"]:
        yield f"  waits for the quota {batch['held_by']}"
    if batch["webhook_error"]:
        yield f"  its message was not delivered: {batch['webhook_error']}"
    if batch["errors"]:
        headings = {"failed": NUMBER, "error": ID, "for instance": TEXT}
        yield Listing(headings, ([str(e["documents"]), e["error_type"], e["message"]] for e in batch["errors"]))


def _json_of(found: list[dict[str, Json]]) -> bytes:
    return json.dumps(found, indent=2, ensure_ascii=False).encode() + b"\n"
