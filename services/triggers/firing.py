"""Carry out one pass of a trigger. Safe to repeat: a run has a key by the pass, a file one by its place and content."""

import asyncio
import hashlib
import mimetypes
import os
from collections.abc import Callable
from pathlib import Path

from docrail.adapters.postgres.tenants import of_tenant
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.errors import TooLarge
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE
from docrail.services.runs.service import RunOrder, start_run
from docrail.services.triggers.folders import SettledFile, find_folder, read_file, settled_files
from docrail.services.triggers.mailbox import MailAccess, take_mails
from docrail.services.triggers.models import TriggerOrder
from docrail.services.triggers.repository import forget_watched, load_watched, save_watched
from docrail.services.triggers.service import order_of
from docrail.services.triggers.uploading import WAITS, FoundFile, Refusals, Uploads
from docrail.workflows.contract.messages import TriggerPass, TriggerReport

MOST_FILES = 10_000
"""Files of a folder that a pass looks at."""


async def fire(
    app: App, inbox: Path | None, mail: MailAccess, work: TriggerPass, heartbeat: Callable[[], None]
) -> TriggerReport:
    """Carry out one pass, and return what it has found.

    Raises: FolderUnknown, MailboxUnusable, Unavailable, and what the start of a run refuses.
    """
    request, order = work.request, order_of(work.request)
    principal = Principal(request.tenant_id, request.created_by, frozenset({Scope.SUBMIT}), key_id=request.key_id)
    with of_tenant(request.tenant_id):
        if order.folder is None and order.mailbox is None:
            return await _start(app, principal, order, work.moment)
        uploads, refusals = Uploads(app, principal, order, work.moment), Refusals(order, principal)
        if order.mailbox is not None:
            await take_mails(uploads, refusals, mail, heartbeat)
        else:
            await _upload_files(uploads, refusals, inbox, heartbeat)
        await uploads.end()
        return TriggerReport(uploaded=uploads.uploaded, known=uploads.known, refused=tuple(refusals.shown))


async def _start(app: App, principal: Principal, order: TriggerOrder, moment: str) -> TriggerReport:
    assert order.definition is not None, "checked when the trigger was created"
    started = await start_run(
        app, principal, RunOrder(order.definition, inputs=order.inputs, key=f"{order.name}.{moment}")
    )
    return TriggerReport(run_ids=(started.run_id,))


async def _upload_files(
    uploads: Uploads, refusals: Refusals, inbox: Path | None, heartbeat: Callable[[], None]
) -> None:
    """Upload the files of the folder that are not as an earlier pass has read them."""
    app, tenant_id, watched = uploads.app, uploads.principal.tenant_id, uploads.order.folder or ""
    own, folder = find_folder(inbox, tenant_id, watched)
    files = await asyncio.to_thread(settled_files, own / folder, MOST_FILES + 1)
    if len(files) > MOST_FILES:
        refusals.add(watched, f"has more than {MOST_FILES} files: the others wait until some are moved")
    read = await load_watched(app.db, tenant_id, watched)
    for file in files[:MOST_FILES]:
        heartbeat()
        if read.pop(_digest(file), None) == file.stamp:
            uploads.known += 1
            continue
        try:
            data = await asyncio.to_thread(read_file, own, f"{folder}/{file.place}", app.max_upload_bytes)
            if data is not None:
                await uploads.add(_found(watched, file, data))
                await save_watched(app.db, tenant_id, watched, _digest(file), file.stamp)
        except (*WAITS, TooLarge) as error:
            refusals.add(_shown(file.place), error)
    if read:
        await forget_watched(app.db, tenant_id, watched, read)


def _digest(file: SettledFile) -> bytes:
    return hashlib.sha256(os.fsencode(file.place)).digest()


def _found(folder: str, file: SettledFile, data: bytes) -> FoundFile:
    """Return a file with the key of its content at its place."""
    named, shown = os.fsencode(f"{folder}/{file.place}\0"), _shown(file.place)
    key = f"folder-{hashlib.sha256(named + data).hexdigest()}"
    return FoundFile(shown, shown, mimetypes.guess_type(shown)[0] or UNKNOWN_MEDIA_TYPE, data, key)


def _shown(place: str) -> str:
    """Return a place as text: a name that is not UTF-8 travels nowhere."""
    return os.fsencode(place).decode("utf-8", "replace")
