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
from docrail.services.errors import NotFound
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE
from docrail.services.runs.service import RunOrder, start_run
from docrail.services.triggers.folders import find_folder, read_file, settled_files
from docrail.services.triggers.mailbox import MailAccess, take_mails
from docrail.services.triggers.models import TriggerOrder
from docrail.services.triggers.service import order_of
from docrail.services.triggers.uploading import OF_ONE_FILE, Found, Refusals, upload_once
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
    principal = Principal(request.tenant_id, request.created_by, frozenset({Scope.SUBMIT}))
    with of_tenant(request.tenant_id):
        if order.mailbox is not None:
            return await take_mails(app, principal, order, mail, heartbeat)
        if order.folder is None:
            return await _start(app, principal, order, work.moment)
        own, folder = find_folder(inbox, request.tenant_id, order.folder)
        return await _upload_files(app, principal, order, own, folder, heartbeat=heartbeat)


async def _start(app: App, principal: Principal, order: TriggerOrder, moment: str) -> TriggerReport:
    assert order.definition is not None, "checked when the trigger was created"
    started = await start_run(
        app, principal, RunOrder(order.definition, inputs=order.inputs, key=f"{order.name}.{moment}")
    )
    return TriggerReport(run_ids=(started.run_id,))


async def _upload_files(
    app: App, principal: Principal, order: TriggerOrder, own: Path, folder: str, *, heartbeat: Callable[[], None]
) -> TriggerReport:
    """Upload the files of the folder in the tenant's own one."""
    refusals, found = Refusals(order, principal), Found()
    places = await asyncio.to_thread(settled_files, own / folder, MOST_FILES + 1)
    if len(places) > MOST_FILES:
        refusals.add(order.folder or "", f"has more than {MOST_FILES} files: the others wait until some are moved")
    for place in places[:MOST_FILES]:
        heartbeat()
        try:
            data = await asyncio.to_thread(read_file, own, f"{folder}/{place}", app.max_upload_bytes)
            found += Found() if data is None else await _upload(app, principal, order, place, data)
        except (*OF_ONE_FILE, NotFound) as error:
            refusals.add(_shown(place), error)
    return TriggerReport(uploaded=found.uploaded, known=found.known, refused=tuple(refusals.shown))


async def _upload(app: App, principal: Principal, order: TriggerOrder, place: str, data: bytes) -> Found:
    """Upload a file whose content is new at its place. Raises: OperationError."""
    named = os.fsencode(f"{order.folder}/{place}\0")
    key = f"folder-{hashlib.sha256(named + data).hexdigest()}"
    guessed = mimetypes.guess_type(_shown(place))[0] or UNKNOWN_MEDIA_TYPE
    return await upload_once(app, principal, order, _shown(place), guessed, data, key)


def _shown(place: str) -> str:
    """Return a place as text: a name that is not UTF-8 travels nowhere."""
    return os.fsencode(place).decode("utf-8", "replace")
