"""Carry out one pass of a trigger. Safe to repeat: a run has a key by the pass, a file one by its place and content."""

import asyncio
import hashlib
import logging
import mimetypes
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.service import load_document
from docrail.services.errors import InvalidInput, KeyConflict, NotFound, TooLarge
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE, Upload, document_id_of, upload_document
from docrail.services.runs.service import RunOrder, start_run
from docrail.services.triggers.models import TriggerOrder
from docrail.services.triggers.service import order_of
from docrail.workflows.contract.messages import TriggerPass, TriggerReport

SETTLED_SECONDS = 2.0
"""A file that changed within this time may still be written: a later pass uploads it."""
PARTIAL = frozenset({".part", ".tmp", ".crdownload", ".filepart"})
"""Suffixes of files that are still being written."""
MOST_FILES = 10_000
"""Files of a folder that a pass looks at."""
MOST_REFUSED = 50
_OF_ONE_FILE = (InvalidInput, TooLarge, KeyConflict, NotFound)

log = logging.getLogger(__name__)


class FolderUnknown(ValueError):  # noqa: N818  # a statement about the folder
    """A watched folder is not there. A ValueError: another attempt would find the same."""


async def fire(app: App, inbox: Path | None, work: TriggerPass, heartbeat: Callable[[], None]) -> TriggerReport:
    """Carry out one pass, and return what it has found.

    Raises: FolderUnknown, Unavailable, and what the start of a run refuses.
    """
    request, order = work.request, order_of(work.request)
    principal = Principal(request.tenant_id, request.created_by, frozenset({Scope.SUBMIT}))
    with of_tenant(request.tenant_id):
        if order.folder is None:
            return await _start(app, principal, order, work.moment)
        folder = _folder_of(inbox, request.tenant_id, order.folder)
        return await _upload_files(app, principal, order, folder, heartbeat)


async def _start(app: App, principal: Principal, order: TriggerOrder, moment: str) -> TriggerReport:
    assert order.definition is not None, "checked when the trigger was created"
    started = await start_run(
        app, principal, RunOrder(order.definition, inputs=order.inputs, key=f"{order.name}.{moment}")
    )
    return TriggerReport(run_ids=(started.run_id,))


def _folder_of(inbox: Path | None, tenant_id: str, name: str) -> Path:
    """Return a watched folder. Raises: FolderUnknown."""
    if inbox is None:
        raise FolderUnknown("this worker watches no folders: set DOCRAIL_INBOX_DIR to the folder above them")
    own = (inbox / tenant_id).resolve()
    folder = (own / name).resolve()
    if not folder.is_relative_to(own) or not folder.is_dir():
        raise FolderUnknown(f"there is no folder {name!r} in {own}: create it, where every worker sees it")
    return folder


async def _upload_files(
    app: App, principal: Principal, order: TriggerOrder, folder: Path, heartbeat: Callable[[], None]
) -> TriggerReport:
    uploaded, known, refused = 0, 0, list[str]()

    def refuse(place: str, error: object) -> None:
        log.warning("the trigger %s of tenant %s: %s: %s", order.name, principal.tenant_id, place, error)
        refused.append(f"{place}: {error}")

    found = await asyncio.to_thread(lambda: [*islice(_files_in(folder), MOST_FILES + 1)])
    if len(found) > MOST_FILES:
        refuse(order.folder or "", f"has more than {MOST_FILES} files: the others wait until some are moved")
    for path in found[:MOST_FILES]:
        heartbeat()
        place = path.relative_to(folder).as_posix()
        try:
            data = await asyncio.to_thread(_read, path, app.max_upload_bytes)
            is_new = data is not None and await _upload(app, principal, order, place, data)
        except _OF_ONE_FILE as error:
            refuse(place, error)
            continue
        uploaded, known = uploaded + is_new, known + (data is not None and not is_new)
    return TriggerReport(uploaded=uploaded, known=known, refused=tuple(refused[:MOST_REFUSED]))


def _read(path: Path, limit_bytes: int) -> bytes | None:
    """Return a file's content; None if it was moved meanwhile. Raises: TooLarge, InvalidInput (it cannot be read)."""
    try:
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput([InputProblem("file", f"cannot be read: {error.strerror}")]) from error
    if len(data) > limit_bytes:
        raise TooLarge(limit_bytes)
    return data


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the settled files below a folder in order, without hidden ones and links that lead out of it."""
    latest = time.time() - SETTLED_SECONDS
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if is_hidden or path.suffix.lower() in PARTIAL or not path.is_file():
            continue
        with suppress(FileNotFoundError):  # it was moved meanwhile
            if path.stat().st_mtime <= latest and path.resolve().is_relative_to(folder):
                yield path


async def _upload(app: App, principal: Principal, order: TriggerOrder, place: str, data: bytes) -> bool:
    """Upload a file whose content is new at its place; return whether it is. Raises: OperationError."""
    named = f"{order.folder}/{place}\0".encode()
    key = f"folder-{hashlib.sha256(named + data).hexdigest()}"
    if await load_document(app.db, principal.tenant_id, document_id_of(principal.tenant_id, key)) is not None:
        return False
    upload = Upload(
        chunks=_once(data),
        file_name=place,
        media_type=mimetypes.guess_type(place)[0] or UNKNOWN_MEDIA_TYPE,
        key=key,
        source=order.source,
        definition=order.definition,
        inputs=order.inputs,
    )
    await upload_document(app, principal, upload)
    return True


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
