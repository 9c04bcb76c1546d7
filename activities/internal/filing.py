"""The activity that tells the lake what people decided and corrected: it files those documents again.

It is not in the catalogue: no definition names it. A definition saves a document once it is read, mostly before a
person has seen it.
"""

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.adapters.postgres.pool import NotStored
from docrail.services.lake.service import is_to_be_filed, load_version
from docrail.services.reviews.items import load_unfiled, mark_filed
from docrail.services.reviews.models import Unfiled
from docrail.services.tools import Tools

AT_ONCE = 8
"""Documents that are filed at the same time: a worker has runs to care for too."""

SWEEP_SECONDS = 60.0

log = logging.getLogger(__name__)


def filing_activity(tools: Tools) -> Callable[[], Awaitable[int]]:
    """Return the activity. Safe to repeat, and to stop anywhere: the same state is the same version, the same bytes.

    No batch begins after SWEEP_SECONDS: the next round goes on. A document that cannot be written holds up no other:
    the failure is raised at the end, as OSError (disk full, S3 unavailable).
    """

    @activity.defn(name="file_reviewed")
    async def file_reviewed() -> int:
        filed, failed, last, until = 0, list[OSError](), None, time.monotonic() + SWEEP_SECONDS
        while time.monotonic() < until and (some := await load_unfiled(tools.db, limit=AT_ONCE, after=last)):
            activity.heartbeat()
            for outcome in await asyncio.gather(*(_file(tools, each) for each in some)):
                if isinstance(outcome, OSError):
                    failed.append(outcome)
                else:
                    filed += outcome
            last = some[-1]
        if failed:
            raise failed[0]
        return filed

    return file_reviewed


async def _file(tools: Tools, unfiled: Unfiled) -> bool | OSError:
    """Save the document as people left it, and tell whether the lake has it, or what kept it from being written."""
    tenant_id, document_id = unfiled.tenant_id, unfiled.document_id
    if not await is_to_be_filed(tools.db, unfiled):
        return False
    try:
        invoice, version = await load_version(tools.db, tenant_id, document_id, today=dt.datetime.now(dt.UTC).date())
        await tools.lake.write_parquet(tenant_id, invoice, version)
        await tools.lake.write_json(tenant_id, invoice, version)
    except OSError as error:
        return error
    except (NotStored, ValueError) as error:  # which a step that saves it does not try again either
        log.error("what was decided of %s (tenant %s) is not filed: %s", document_id, tenant_id, error)  # noqa: TRY400
    await mark_filed(tools.db, unfiled)
    return True
