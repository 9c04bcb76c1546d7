"""Find the state of a document that the lake keeps, and whether the lake keeps the document at all."""

import datetime as dt

import asyncpg

from docrail.adapters.postgres.pool import transaction
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import ReadingKey
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.repository import claim_version, is_saved
from docrail.services.reviews.items import lock_unfiled, mark_filed
from docrail.services.reviews.models import Unfiled
from docrail.services.reviews.standing import load_state, lock_revision


async def load_version(
    db: asyncpg.Pool, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> tuple[InvoiceData, LakeVersion]:
    """Return the document as it stands, and the version under which the lake keeps that state.

    Raises: NotStored if the tenant has no such document or reading.
    """
    while True:
        state = await load_state(db, tenant_id, document_id, today=today, reading=reading)
        async with transaction(db) as tx:
            # A decision or correction commits either before this or after the version is claimed.
            if await lock_revision(tx, tenant_id, document_id) == state.revision:
                return state.invoice, await claim_version(tx, tenant_id, state.invoice, state.status)


async def is_to_be_filed(db: asyncpg.Pool, unfiled: Unfiled) -> bool:
    """Return whether the lake has the document at all; one that it does not have is not to be filed any more.

    A later save of the document includes what people decided. The review is locked, so a save that runs now has ended
    or has not read the document yet (`load_version`).
    """
    async with transaction(db) as tx:
        await lock_unfiled(tx, unfiled)
        has_it = await is_saved(tx, unfiled.tenant_id, unfiled.document_id)
        if not has_it:
            await mark_filed(tx, unfiled)
    return has_it
