"""Carry out one pass of a trigger. Safe to repeat: a run has a key by the pass, a file one by its place and content."""

import asyncio
import hashlib
import logging
import mimetypes
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from docrail.adapters.postgres.tenants import of_tenant
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.service import load_document
from docrail.services.errors import InvalidInput, KeyConflict, NotFound, TooLarge
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE, Upload, document_id_of, upload_document
from docrail.services.runs.service import RunOrder, start_run
from docrail.services.triggers.folders import find_folder, read_file, settled_files
from docrail.services.triggers.models import TriggerOrder
from docrail.services.triggers.service import order_of
from docrail.workflows.contract.messages import TriggerPass, TriggerReport

MOST_FILES = 10_000
"""Files of a folder that a pass looks at."""
MOST_REFUSED = 50
_OF_ONE_FILE = (InvalidInput, TooLarge, KeyConflict, NotFound)

log = logging.getLogger(__name__)


async def fire(app: App, inbox: Path | None, work: TriggerPass, heartbeat: Callable[[], None]) -> TriggerReport:
    """Carry out one pass, and return what it has found.

    Raises: FolderUnknown, Unavailable, and what the start of a run refuses.
    """
    request, order = work.request, order_of(work.request)
    principal = Principal(request.tenant_id, request.created_by, frozenset({Scope.SUBMIT}))
    with of_tenant(request.tenant_id):
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
    uploaded, known, refused = 0, 0, list[str]()

    def refuse(place: str, error: object) -> None:
        log.warning("the trigger %s of tenant %s: %s: %s", order.name, principal.tenant_id, _shown(place), error)
        refused.append(f"{_shown(place)}: {error}")

    found = await asyncio.to_thread(settled_files, own / folder, MOST_FILES + 1)
    if len(found) > MOST_FILES:
        refuse(order.folder or "", f"has more than {MOST_FILES} files: the others wait until some are moved")
    for place in found[:MOST_FILES]:
        heartbeat()
        try:
            data = await asyncio.to_thread(read_file, own, f"{folder}/{place}", app.max_upload_bytes)
            is_new = data is not None and await _upload(app, principal, order, place, data)
        except _OF_ONE_FILE as error:
            refuse(place, error)
            continue
        uploaded, known = uploaded + is_new, known + (data is not None and not is_new)
    return TriggerReport(uploaded=uploaded, known=known, refused=tuple(refused[:MOST_REFUSED]))


async def _upload(app: App, principal: Principal, order: TriggerOrder, place: str, data: bytes) -> bool:
    """Upload a file whose content is new at its place; return whether it is. Raises: OperationError."""
    named = os.fsencode(f"{order.folder}/{place}\0")
    key = f"folder-{hashlib.sha256(named + data).hexdigest()}"
    if await load_document(app.db, principal.tenant_id, document_id_of(principal.tenant_id, key)) is not None:
        return False
    upload = Upload(
        chunks=_once(data),
        file_name=_shown(place),
        media_type=mimetypes.guess_type(_shown(place))[0] or UNKNOWN_MEDIA_TYPE,
        key=key,
        source=order.source,
        definition=order.definition,
        inputs=order.inputs,
    )
    await upload_document(app, principal, upload)
    return True


def _shown(place: str) -> str:
    """Return a place as text: a name that is not UTF-8 travels nowhere."""
    return os.fsencode(place).decode("utf-8", "replace")


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
