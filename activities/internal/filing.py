"""Activity that saves decided and corrected documents to the lake again.

Definitions cannot name it. A definition saves a document once it is read, usually before a person has reviewed it.
"""

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.adapters.postgres.pool import NotStored
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.services.lake.service import is_to_be_filed, load_version
from docrail.services.reviews.items import load_unfiled, mark_filed
from docrail.services.reviews.models import Unfiled
from docrail.services.tools import Tools

AT_ONCE = 8
"""Number of documents saved in parallel: the worker also has runs to process."""

SWEEP_SECONDS = 60.0

log = logging.getLogger(__name__)


def filing_activity(tools: Tools) -> Callable[[], Awaitable[int]]:
    """Return the activity. It is safe to repeat and to stop: the same state gives the same version and the same bytes.

    No batch starts after SWEEP_SECONDS: the next run continues. A document that cannot be written does not stop the
    others: the first failure is raised at the end.
    """

    @activity.defn(name="file_reviewed")
    async def file_reviewed() -> int:
        filed, failed, last, until = 0, list[BaseException](), None, time.monotonic() + SWEEP_SECONDS
        while time.monotonic() < until and (some := await _unfiled(tools, last)):
            activity.heartbeat()
            for outcome in await asyncio.gather(
                *(_file_as_tenant(tools, each) for each in some), return_exceptions=True
            ):
                if isinstance(outcome, BaseException):
                    failed.append(outcome)
                else:
                    filed += outcome
            last = some[-1]
        if failed:
            raise failed[0]
        return filed

    return file_reviewed


async def _unfiled(tools: Tools, after: Unfiled | None) -> list[Unfiled]:
    with all_tenants():
        return await load_unfiled(tools.db, limit=AT_ONCE, after=after)


async def _file_as_tenant(tools: Tools, unfiled: Unfiled) -> bool:
    with of_tenant(unfiled.tenant_id):
        return await _file(tools, unfiled)


async def _file(tools: Tools, unfiled: Unfiled) -> bool:
    """Save the document's current state; return whether the lake contains the document."""
    tenant_id, document_id = unfiled.tenant_id, unfiled.document_id
    if not await is_to_be_filed(tools.db, unfiled):
        return False
    try:
        invoice, version = await load_version(tools.db, tenant_id, document_id, today=dt.datetime.now(dt.UTC).date())
        await tools.lake.write_parquet(tenant_id, invoice, version)
        await tools.lake.write_json(tenant_id, invoice, version)
    except (NotStored, ValueError) as error:  # not retried, as in a step that saves it
        log.error("the decided document %s (tenant %s) cannot be saved: %s", document_id, tenant_id, error)  # noqa: TRY400
    await mark_filed(tools.db, unfiled)
    return True
