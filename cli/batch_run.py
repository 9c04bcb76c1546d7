"""`docrail batch run`: send many documents, follow them, and leave them running if the command is stopped."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.batch_progress import BATCHES, bar, batch_path, followed, insisting
from docrail.cli.batch_sources import Broken, Found, LocalFile, find
from docrail.cli.batches import of_batch
from docrail.cli.client import HERE, Api, connect, given
from docrail.cli.inputs import Inputs, some_inputs
from docrail.cli.printout import Printout
from docrail.cli.stop import INTERRUPTED, run_until_stopped
from docrail.cli.terminal import complain, program
from docrail.dag.values.json_values import Json
from docrail.transport import ApiError, NoAnswerError, Transport

AT_ONCE = 8
"""Files that are sent at the same time."""
READS = 3
"""How often a file is read that changes while it is read."""
LONGEST_NAME = 200
FEWEST_BROKEN = 20
"""Broken entries that are printed one by one although the rest is sent."""


class ChangedError(Exception):
    """A file changed while it was read."""


class CutOffError(Exception):
    """The rest of a batch cannot be sent now; the message says why."""


@dataclass(slots=True)
class Sending:
    """A batch that is being sent: what Ctrl-C leaves."""

    source: str
    batch_id: str = ""
    is_sent: bool = False
    broken: list[Broken] = field(default_factory=list)

    def hints(self) -> str:
        """Return how to go on after the command was stopped."""
        if not self.batch_id:
            return "nothing was sent"
        follow = f"follow it with: {program()} batch show {self.batch_id} --wait"
        if self.is_sent:
            return f"the batch {self.batch_id} goes on without this command; {follow}"
        rest = f"{program()} batch run {self.source} --resume"
        return f"the batch {self.batch_id} goes on with what was sent; {follow}\nsend the rest with: {rest}"


Reference = Annotated[
    str | None,
    typer.Option(help="ID, ID@VERSION or ID@ALIAS; by default the routing rules choose.", metavar="REF"),
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Most runs that are open at once; 10 by default.", metavar="N")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the batch of this source that was cut off.")]
NoGroup = Annotated[
    bool, typer.Option("--no-group", help="Run each document in a workflow of its own, at a higher cost.")
]
SkipBroken = Annotated[bool, typer.Option("--skip-broken", help="Report what cannot be sent, and send the rest.")]


def run(
    source: Annotated[str, typer.Argument(help="Folder, pattern, zip or manifest.jsonl.", metavar="SOURCE")],
    *,
    definition: Reference = None,
    inputs: Inputs = None,
    max_concurrency: Concurrency = None,
    resume: Resume = False,
    skip_broken: SkipBroken = False,
    no_group: NoGroup = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return when all is sent.")] = False,
    api: Api = HERE,
) -> Printout:
    """Send many documents as a batch, and follow it.

    SOURCE is a folder with its subfolders, a pattern in quotes, a zip file, or a manifest: a file with a line such as
    {"file": "november/4711.pdf"} for each document, its path inside the manifest's folder. Values in its "inputs"
    replace those of --input, which are for all documents. All files are looked at before anything is sent. The same
    content is run once, however many places it has.

    Ctrl-C leaves the batch running. --resume sends what is missing: places that the batch has are not sent again.

    Exit codes: 0 every document is done or waits for a person; 1 some failed, could not be sent, or the API refused;
    2 wrong usage; 130 Ctrl-C: the batch goes on.

    Example: docrail batch run invoices/ --definition invoice --max-concurrency 20
    """
    found = find(source)
    is_empty = not found.files and found.zip is None
    if is_empty or (found.broken and not skip_broken):
        return _refused(source, found.broken, is_empty=is_empty)
    sending = Sending(source, broken=list(found.broken))
    values = some_inputs(api, definition, inputs or [])
    order = given(definition=definition, max_concurrency=max_concurrency, inputs=values or None, grouped=not no_group)
    ended = run_until_stopped(lambda: _run(api, found, order, sending, resume=resume, waits=not no_wait))
    if ended is None:
        complain(sending.hints())
        raise typer.Exit(INTERRUPTED)
    return ended


def _refused(source: str, broken: Sequence[Broken], *, is_empty: bool) -> Printout:
    for each in broken:
        complain(str(each))
    data: Json = {"batch": None, "broken": _as_json(broken)}
    if is_empty:
        return Printout(data, error=f"nothing in {source} can be sent")
    count = f"{len(broken)} entries" if len(broken) > 1 else "one entry"
    return Printout(data, error=f"{count} of {source} cannot be sent, so nothing was; --skip-broken sends the rest")


def _as_json(broken: Sequence[Broken]) -> Json:
    return [{"where": each.where, "problem": each.problem} for each in broken]


async def _run(
    api: str, found: Found, order: dict[str, Json], sending: Sending, *, resume: bool, waits: bool
) -> Printout:
    async with connect(api) as client:
        name = _name_of(sending.source)
        batch = (
            await _cut_off(client, name)
            if resume
            else await client.request("POST", BATCHES, json={"name": name, **order})
        )
        sending.batch_id = batch["batch_id"]
        complain(f"batch {sending.batch_id}")
        try:
            batch = await _send(client, batch, found, sending)
        except (CutOffError, ApiError) as error:
            if getattr(error, "kind", "") not in OF_A_ZIP:
                raise ApiError(f"{error}\n{sending.hints()}") from error
            await insisting(client, "POST", batch_path(sending.batch_id, "cancel"), json={"reason": "zip refused"})
            raise ApiError(f"{error}\nnothing was sent, and the batch is cancelled") from error
        sending.is_sent = True
        if waits:
            batch = await followed(client, sending.batch_id)
        return _ended(batch, sending)


def _name_of(source: str) -> str:
    """Return the name of a source's batches, by which --resume finds them."""
    return str(Path(source).resolve())[-LONGEST_NAME:]


async def _cut_off(client: Transport, name: str) -> dict[str, Json]:
    """Return the caller's newest batch of that name. Raises: ApiError."""
    caller, after = (await client.request("GET", "/v1/me"))["name"], None
    while True:
        page = await client.request("GET", BATCHES, params={"limit": 100, "after": after})
        for batch in page["batches"]:
            if (batch["name"], batch["created_by"]) == (name, caller):
                return await client.request("GET", batch_path(batch["batch_id"]))  # type: ignore[no-any-return]
        if (after := page["after"]) is None:
            raise ApiError(f"--resume: {caller} has no batch of {name}: run it without --resume")


async def _send(client: Transport, batch: dict[str, Json], found: Found, sending: Sending) -> dict[str, Json]:
    """Send what the batch does not have, close it, and return it."""
    batch_id = batch["batch_id"]
    if batch["is_closed"]:
        return batch
    if found.zip is not None:
        await _send_zip(client, batch_id, found.zip)
    else:
        known = {each["place"] for each in await _documents(client, batch_id)}
        files = [each for each in found.files if each.place not in known]
        await _send_files(client, batch_id, files, sending)
    closed: dict[str, Json] = await insisting(client, "POST", batch_path(batch_id, "close"))
    return closed


async def _documents(client: Transport, batch_id: str) -> list[dict[str, Json]]:
    found, after = [], None
    while True:
        page = await client.request("GET", batch_path(batch_id, "documents"), params={"limit": 500, "after": after})
        found += page["documents"]
        if (after := page["after"]) is None:
            return found


async def _send_zip(client: Transport, batch_id: str, path: Path) -> None:
    with path.open("rb") as stream:
        added = await client.request(
            "POST", batch_path(batch_id, "zip"), files={"file": (path.name, stream)}, timeout=None
        )
    for name in added["unreadable"]:
        complain(f"{name}: is empty")


async def _send_files(client: Transport, batch_id: str, files: Sequence[LocalFile], sending: Sending) -> None:
    waiting = iter(enumerate(files, start=1))
    async with bar("sent") as show:

        async def send_some() -> None:
            for number, file in waiting:
                if problem := await _send_file(client, batch_id, file):
                    sending.broken.append(problem)
                show(number, len(files), "")

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(AT_ONCE):
                    group.create_task(send_some())
        except* (CutOffError, ApiError) as errors:
            raise CutOffError(str(errors.exceptions[0])) from errors


async def _send_file(client: Transport, batch_id: str, file: LocalFile) -> Broken | None:
    """Send a file; return what is wrong with it if the API refuses it. Raises: CutOffError, NoAnswerError."""
    try:
        content = await asyncio.to_thread(_content, file.path)
    except (OSError, ChangedError) as error:
        return Broken(file.place, getattr(error, "strerror", None) or str(error))
    try:
        data = {"place": file.place, **given(inputs=json.dumps(file.inputs) if file.inputs else None)}
        form: dict[str, Json] = {"files": {"file": (file.path.name, content)}, "data": data}
        await insisting(client, "POST", batch_path(batch_id, "documents"), **form)
    except NoAnswerError:
        raise
    except ApiError as error:
        if error.kind not in OF_ONE_FILE:
            raise CutOffError(str(error)) from error
        return Broken(file.place, str(error))
    return None


OF_ONE_FILE = frozenset({"too-large", "invalid-input", "key-conflict", "empty-upload"})
"""Refusals of one file; after any other, the next file would be refused too."""
OF_A_ZIP = frozenset({"unsafe-archive", "nothing-readable", "too-large"})
"""Refusals of a zip file as a whole: sent again, it would be refused again."""


def _content(path: Path) -> bytes:
    """Return the content of a file that did not change while it was read. Raises: OSError, ChangedError."""
    for _ in range(READS):
        with path.open("rb") as stream:
            before, content, after = path.stat(), stream.read(), path.stat()
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(content)):
            return content
    raise ChangedError("changes while it is read: send it when it is complete")


def _ended(batch: dict[str, Json], sending: Sending) -> Printout:
    """Return how it ended: the batch, and what could not be sent."""
    for each in sending.broken[:FEWEST_BROKEN]:
        complain(f"not sent: {each}")
    if (more := len(sending.broken) - FEWEST_BROKEN) > 0:
        complain(f"not sent: {more} more; --json lists all")
    failed = batch["counts"]["failed"] > 0 or bool(sending.broken)
    return Printout({"batch": batch, "broken": _as_json(sending.broken)}, [*of_batch(batch)], code=int(failed))
