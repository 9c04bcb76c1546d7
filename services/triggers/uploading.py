"""Upload what a trigger has found, once by its key, and collect what is refused."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from docrail.adapters.mails import UnreadableMail
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.service import load_document
from docrail.services.errors import InvalidInput, KeyConflict, TooLarge
from docrail.services.intake.service import Upload, document_id_of, upload_document
from docrail.services.triggers.models import TriggerOrder

MOST_REFUSED = 50
"""Refusals that a pass reports; all are logged."""

OF_ONE_FILE = (InvalidInput, TooLarge, KeyConflict, UnreadableMail)
"""Errors of a file that keep no other one back."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """Files that were uploaded, and those that had been before."""

    uploaded: int = 0
    known: int = 0

    def __add__(self, other: "Found") -> "Found":
        """Return both together."""
        return Found(self.uploaded + other.uploaded, self.known + other.known)


@dataclass(slots=True)
class Refusals:
    """What a pass of a trigger refuses."""

    order: TriggerOrder
    principal: Principal
    shown: list[str] = field(default_factory=list)
    """The first ones: the place, and why."""

    def add(self, place: str, error: object) -> None:
        """Note that something is refused."""
        log.warning("the trigger %s of tenant %s: %s: %s", self.order.name, self.principal.tenant_id, place, error)
        if len(self.shown) < MOST_REFUSED:
            self.shown.append(f"{place}: {error}")


async def upload_once(
    app: App, principal: Principal, order: TriggerOrder, name: str, media_type: str, data: bytes, key: str
) -> Found:
    """Upload a file unless its key is known. Raises: OperationError."""
    if await load_document(app.db, principal.tenant_id, document_id_of(principal.tenant_id, key)) is not None:
        return Found(known=1)
    upload = Upload(
        chunks=_once(data),
        file_name=name,
        media_type=media_type,
        key=key,
        source=order.source,
        definition=order.definition,
        inputs=order.inputs,
    )
    await upload_document(app, principal, upload)
    return Found(uploaded=1)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
