"""Copy the reports and explanations of ended runs to PostgreSQL: they are left after Temporal has deleted the runs.

Without outputs: those belong to documents and values, which have retention times of their own.
"""

import asyncio
import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from temporalio.client import WorkflowExecution, WorkflowQueryFailedError

from docrail.adapters.postgres.tenants import all_tenants
from docrail.adapters.temporal.codec import PayloadKeyError
from docrail.dag.explain.report import RunReport
from docrail.services.app import App
from docrail.services.engine import ALL_RUNS, RPC_TIMEOUT, engine_errors
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.ended_runs import load_last_end, save_ended_runs, select_copied
from docrail.services.runs.explanations import save_explanations
from docrail.services.runs.models import EndedRun
from docrail.services.runs.views.explained import explain_ended, explanation_in
from docrail.services.runs.views.reports import ended_report
from docrail.workflows.contract.names import DOCUMENT, outer_run_id, run_id_of, tenant_of

OVERLAP = dt.timedelta(minutes=1)
"""Runs that ended up to this long before the last copied one are listed again: Temporal's lists lag."""

MOST_TOGETHER = 100
"""Runs whose reports are read and stored together, within the minutes that an activity has even if no worker can replay
them."""

SHORTEST_WINDOW = dt.timedelta(seconds=1)

AT_ONCE = 8
"""Reports that are read at the same time."""

MOST_SILENCES = 3
"""Runs of a task queue that no worker explains, one of which may only be broken, before its others are left out."""

MOST_SECONDS = 100.0
"""When a pass ends; the next one goes on where it stopped."""

_BEGINNING = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
"""Before the first run of any server."""

log = logging.getLogger(__name__)

Window = tuple[dt.datetime, dt.datetime]


async def copy_ended_runs(app: App) -> int:
    """Copy the reports of all tenants' runs that ended since the last pass, oldest first, and return how many.

    Safe to repeat, and to stop at any point. Raises: Unavailable (Temporal).
    """
    with all_tenants():
        last = await load_last_end(app.db)
        begin, now = last - OVERLAP if last else _BEGINNING, dt.datetime.now(dt.UTC)
        copied, deadline = 0, time.monotonic() + MOST_SECONDS
        async for window in _windows(app, begin, now):
            copied += await _copy(app, window)
            if time.monotonic() > deadline:
                break
    return copied


async def _windows(app: App, begin: dt.datetime, end: dt.datetime) -> AsyncIterator[Window]:
    """Yield the parts of a time in which some runs ended, but not too many of them, oldest first."""
    with engine_errors("run", ""):
        count = (await app.temporal.count_workflows(_ended((begin, end)), rpc_timeout=RPC_TIMEOUT)).count
    if count > MOST_TOGETHER and end - begin > SHORTEST_WINDOW:
        middle = begin + (end - begin) / 2
        for half in ((begin, middle), (middle, end)):
            async for window in _windows(app, *half):
                yield window
    elif count:
        yield begin, end


def _ended(window: Window) -> str:
    begin, end = (moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z") for moment in window)
    ended = 'ExecutionStatus NOT IN ("Running", "ContinuedAsNew")'
    return f'{ALL_RUNS} AND {ended} AND CloseTime >= "{begin}" AND CloseTime < "{end}"'


async def _copy(app: App, window: Window) -> int:
    with engine_errors("run", ""):
        found = [each async for each in app.temporal.list_workflows(_ended(window), rpc_timeout=RPC_TIMEOUT)]
    last = {each.id: each for each in sorted(found, key=_end_of)}
    new = await _uncopied(app, list(last.values()))
    turns = asyncio.Semaphore(AT_ONCE)

    async def read(execution: WorkflowExecution) -> RunReport | None:
        async with turns:
            return await _read(app, execution)

    read_ones = zip(new, await asyncio.gather(*map(read, new)), strict=True)
    reports = [(each, report) for each, report in read_ones if report is not None]
    known = [(each, explanation_in(each, report)) for each, report in reports]
    await save_explanations(app.db, [explanation for _, explanation in known if explanation is not None])
    await save_ended_runs(app.db, [_copy_of(*each) for each in reports])
    await _explain(app, [each for each, explanation in known if explanation is None])
    return len(reports)


async def _explain(app: App, executions: Sequence[WorkflowExecution]) -> None:
    """Store explanations that no result has, as far as workers answer: where they are silent, none is awaited any more.

    What is left out is stored when it is first read.
    """
    turns, silences = asyncio.Semaphore(AT_ONCE), Counter[str]()

    async def explain(execution: WorkflowExecution) -> None:
        async with turns:
            if silences[execution.task_queue] >= MOST_SILENCES:
                return
            try:
                await explain_ended(app, execution)
            except Unavailable:
                silences[execution.task_queue] += 1
            except (NotFound, ValueError, WorkflowQueryFailedError) as error:
                log.warning("the explanation of the run %s is not copied: %s", run_id_of(execution.id), error)

    await asyncio.gather(*map(explain, executions))


async def _uncopied(app: App, executions: Sequence[WorkflowExecution]) -> list[WorkflowExecution]:
    """Return those whose last end is not copied yet."""
    keys = [(tenant_of(each.id), run_id_of(each.id)) for each in executions]
    copied = await select_copied(app.db, keys)
    return [each for key, each in zip(keys, executions, strict=True) if copied.get(key, _BEGINNING) < _end_of(each)]


async def _read(app: App, execution: WorkflowExecution) -> RunReport | None:
    try:
        return await ended_report(app.temporal, execution)
    except (NotFound, ValueError, PayloadKeyError, Unavailable) as error:
        if isinstance(error, Unavailable) and not isinstance(error.__cause__, PayloadKeyError):
            raise
        # It was deleted meanwhile, is of a build whose reports cannot be read, or its key is gone.
        log.warning("the report of the run %s is not copied: %s", run_id_of(execution.id), error)
        return None


def _copy_of(execution: WorkflowExecution, report: RunReport) -> EndedRun:
    return EndedRun(
        tenant_id=tenant_of(execution.id),
        run_id=run_id_of(execution.id),
        ended_at=_end_of(execution),
        document_id=execution.typed_search_attributes.get(DOCUMENT),
        outer_run_id=None if execution.parent_id is None else outer_run_id(execution.parent_id),
        report=_without_outputs(report),
    )


def _end_of(execution: WorkflowExecution) -> dt.datetime:
    assert execution.close_time is not None, "the query names ended runs only"
    return execution.close_time


def _without_outputs(report: RunReport) -> dict[str, object]:
    steps = {name: step.model_copy(update={"output": None}) for name, step in report.steps.items()}
    bare = report.model_copy(update={"steps": steps, "outputs": {}, "step_outputs_omitted": True})
    return bare.model_dump(mode="json", exclude_defaults=True, exclude={"explanation"})
