"""Keep the reports of ended runs in PostgreSQL, so that they stay readable after Temporal has deleted them.

Without outputs: those belong to documents and values, which have retention times of their own.
"""

import asyncio
import datetime as dt
import logging

import asyncpg
from temporalio.client import Client, WorkflowExecution

from docrail.dag.explain.report import RunReport
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.errors import NotFound
from docrail.services.runs.reports import ended_report
from docrail.services.runs.repository import load_last_end, save_report
from docrail.workflows.contract.names import WORKFLOW_TYPE, run_id_of, tenant_of

OVERLAP = dt.timedelta(hours=1)
"""Runs that ended up to this long before the last kept one are looked at again: visibility lags, and a pass may have
been interrupted within its window."""
WINDOW = dt.timedelta(hours=1)
"""Ends that are kept together. Windows follow each other in time, so an interrupted pass leaves no gap."""
AT_ONCE = 8
"""Reports that are loaded at the same time."""

log = logging.getLogger(__name__)


async def keep_ended_runs(db: asyncpg.Pool, client: Client, *, now: dt.datetime) -> int:
    """Keep the reports of all tenants' runs that ended since the last pass, and return how many. Safe to repeat.

    Raises: Unavailable.
    """
    kept, begin = 0, await _first_end(db, client)
    while begin is not None and begin < now:
        kept += await _keep_window(db, client, begin, begin + WINDOW)
        begin += WINDOW
    return kept


async def _first_end(db: asyncpg.Pool, client: Client) -> dt.datetime | None:
    """Return from when on runs are to be kept: the last kept end or, at first, the start of the oldest run."""
    if (last := await load_last_end(db)) is not None:
        return last - OVERLAP
    with engine_errors("run", ""):
        starts = [each.start_time async for each in client.list_workflows(_ENDED, rpc_timeout=RPC_TIMEOUT)]
    return min(starts, default=None)


_ENDED = f'WorkflowType = "{WORKFLOW_TYPE}" AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"'


async def _keep_window(db: asyncpg.Pool, client: Client, begin: dt.datetime, end: dt.datetime) -> int:
    query = f'{_ENDED} AND CloseTime >= "{_time(begin)}" AND CloseTime < "{_time(end)}"'
    turns = asyncio.Semaphore(AT_ONCE)

    async def keep(execution: WorkflowExecution) -> bool:
        async with turns:
            return await _keep(db, client, execution)

    with engine_errors("run", ""):
        ended = [each async for each in client.list_workflows(query, rpc_timeout=RPC_TIMEOUT)]
    return sum(await asyncio.gather(*map(keep, ended)))


async def _keep(db: asyncpg.Pool, client: Client, execution: WorkflowExecution) -> bool:
    assert execution.close_time is not None, "the query names ended runs only"
    try:
        report = await ended_report(client, execution)
    except (NotFound, ValueError) as error:  # deleted meanwhile, or of a build whose reports cannot be read
        log.warning("the report of the run %s is not kept: %s", execution.id, error)
        return False
    await save_report(
        db, tenant_of(execution.id), run_id_of(execution.id), execution.close_time, _without_outputs(report)
    )
    return True


def _without_outputs(report: RunReport) -> dict[str, object]:
    steps = {name: step.model_copy(update={"output": None}) for name, step in report.steps.items()}
    bare = report.model_copy(update={"steps": steps, "outputs": {}, "step_outputs_omitted": True})
    return bare.model_dump(mode="json", exclude_defaults=True)


def _time(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
