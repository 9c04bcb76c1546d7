"""Upload what a trigger has found, once by its key, alone or in the pass's batch, and collect what is refused."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.printable import printable
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.batches.adding import File, add_file
from docrail.services.batches.models import MOST_PLACE, BatchOrder
from docrail.services.batches.of_triggers import close_batches_of
from docrail.services.batches.service import create_batch
from docrail.services.documents.service import load_document
from docrail.services.errors import InvalidInput, KeyConflict, NotFound, PlaceTaken, WrongState
from docrail.services.intake.service import Upload, check_upload, document_id_of, upload_document
from docrail.services.triggers.models import TriggerOrder

MOST_REFUSED = 50
"""Refusals that a pass reports; all are logged."""

WAITS = (InvalidInput, KeyConflict, NotFound, PlaceTaken, WrongState)
"""Errors that keep no other file back, and that a later pass may not meet: the definition may fit again by then."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a pass has found. `key`: one by its place and content, which its document is uploaded under once."""

    place: str
    name: str
    media_type: str
    data: bytes
    key: str


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


@dataclass(slots=True)
class Uploads:
    """Uploads the files of one pass, and counts those that are new and those that were known."""

    app: App
    principal: Principal
    order: TriggerOrder
    moment: str
    """Identifies the pass: a repeated attempt goes on with its batch."""
    uploaded: int = 0
    known: int = 0
    _batch_id: str | None = field(default=None, init=False)

    async def add(self, file: FoundFile) -> None:
        """Upload a file unless its key is known. Raises: OperationError."""
        document_id = document_id_of(self.principal.tenant_id, file.key)
        if await load_document(self.app.db, self.principal.tenant_id, document_id) is not None:
            self.known += 1
            return
        if not file.data:
            raise InvalidInput([InputProblem("file", "is empty")])
        if self.order.batch:
            await self._add_to_batch(file, document_id)
        else:
            await upload_document(self.app, self.principal, self._upload(file))
        self.uploaded += 1

    async def end(self) -> None:
        """Close the batch: no file of this pass follows."""
        if self.order.batch:
            await close_batches_of(self.app, self.principal, self.order.name)

    async def _add_to_batch(self, file: FoundFile, document_id: str) -> None:
        if self._batch_id is None:  # a pass without files that can run orders none
            await check_upload(self.app, self.principal, self._upload(file), len(file.data))
            self._batch_id = await self._order_batch()
        place = printable(file.place)[:MOST_PLACE]
        sent = File(place, file.name, file.media_type, _once(file.data))
        await add_file(self.app, self.principal, self._batch_id, sent, document_id=document_id)

    async def _order_batch(self) -> str:
        order = self.order
        wanted = BatchOrder(
            name=f"{order.name} {self.moment}", definition=order.definition, source=order.source, inputs=order.inputs
        )
        key = f"{order.name}.{self.moment}"
        return (await create_batch(self.app, self.principal, wanted, key=key, trigger=order.name)).batch_id

    def _upload(self, file: FoundFile) -> Upload:
        return Upload(
            chunks=_once(file.data),
            file_name=file.name,
            media_type=file.media_type,
            key=file.key,
            source=self.order.source,
            definition=self.order.definition,
            inputs=self.order.inputs,
        )


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
