"""Find the state of a document that the lake keeps, and whether the lake keeps the document at all."""

import datetime as dt

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.invoices.model import InvoiceData
from docrail.services.documents.assessed import load_arrived
from docrail.services.documents.models import ReadingKey
from docrail.services.lake.models import LakeVersion, StandingChanged
from docrail.services.lake.repository import claim_version, is_saved
from docrail.services.reviews.items import lock_unfiled, mark_filed
from docrail.services.reviews.models import Unfiled


async def load_version(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> tuple[InvoiceData, LakeVersion]:
    """Return the document as `load_arrived` does, and the version under which the lake keeps that state.

    Raises: NotStored if the tenant has no such document or reading.
    """
    while True:
        arrived = await load_arrived(db, tenant_id, document_id, today=today, reading=reading)
        try:
            return arrived.invoice, await claim_version(db, tenant_id, arrived.invoice, arrived.standing)
        except StandingChanged:
            continue


async def is_to_be_filed(db: asyncpg.Pool, unfiled: Unfiled) -> bool:
    """Return whether the lake has the document at all; one that it does not have is not to be filed any more.

    A later save of the document includes what people decided. The review is locked, so a save that runs now has ended
    or has not read the document yet (`repository.CLAIM`).
    """
    async with transaction(db) as tx:
        await lock_unfiled(tx, unfiled)
        has_it = await is_saved(tx, unfiled.tenant_id, unfiled.document_id)
        if not has_it:
            await mark_filed(tx, unfiled)
    return has_it
