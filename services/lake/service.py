"""Find the state of a document that the lake keeps, and whether the lake keeps the document at all."""

import datetime as dt
from collections.abc import Sequence

import asyncpg

from docrail.adapters.postgres.pool import transaction
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import ReadingKey, WantedReading
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.repository import claim_versions, is_saved
from docrail.services.reviews.items import lock_unfiled, mark_filed
from docrail.services.reviews.models import Unfiled
from docrail.services.reviews.standing import load_states, lock_revisions


async def load_version(
    db: asyncpg.Pool, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> tuple[InvoiceData, LakeVersion]:
    """Return one document as `load_versions` does."""
    return (await load_versions(db, tenant_id, [WantedReading(document_id, reading)], today=today))[document_id]


async def load_versions(
    db: asyncpg.Pool, tenant_id: str, wanted: Sequence[WantedReading], *, today: dt.date
) -> dict[str, tuple[InvoiceData, LakeVersion]]:
    """Return the documents as they stand, by id, and the version under which the lake keeps each state.

    Each document is named once. Raises: NotStored if the tenant does not have one of them, or no such reading of it.
    """
    loaded: dict[str, tuple[InvoiceData, LakeVersion]] = {}
    left = list(wanted)
    while left:
        states = {
            each.document_id: state for each, state in (await load_states(db, tenant_id, left, today=today)).items()
        }
        async with transaction(db) as tx:
            # A decision or correction commits either before this or after the version is claimed.
            revisions = await lock_revisions(tx, tenant_id, [*states])
            still = {name: each for name, each in states.items() if revisions.get(name, 0) == each.revision}
            claims = {name: (each.invoice, each.status) for name, each in still.items()}
            versions = await claim_versions(tx, tenant_id, claims)
        loaded |= {name: (still[name].invoice, version) for name, version in versions.items()}
        left = [each for each in left if each.document_id not in loaded]
    return loaded


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
