"""List a tenant's runs, newest first, from Temporal's visibility store, page by page.

Runs that share a workflow are listed from their rows, in the same order (paging_runs.py).
"""

import asyncio
import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field
from temporalio.client import WorkflowExecution

from docrail.adapters.temporal.codec import PayloadKeyError
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.service import list_ids
from docrail.services.documents.service import load_document, load_file_names
from docrail.services.engine import RPC_TIMEOUT, engine_errors, status_of
from docrail.services.errors import InvalidInput
from docrail.services.paging import MOST_COMPARED, Unmatched, after_of, token_of, unmatched
from docrail.services.runs.models import ChunkedFilter, ListedChunkedRun
from docrail.services.runs.repository import count_chunked, count_open_chunked, list_newest_chunked
from docrail.services.runs.views.paging_runs import Alone, Found, Place, merged
from docrail.services.runs.views.permitted import RunAction, Situation, run_actions
from docrail.workflows.contract.names import DEFINITION, DOCUMENT, OVERDUE, STATUS, TENANT, WORKFLOW_TYPE, run_id_of

_SAFE_VALUE = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
"""Values that need no quoting in a visibility query; Docrail's ids contain nothing else."""

_RUNS = f'WorkflowType = "{WORKFLOW_TYPE}" AND {DEFINITION.name} IS NOT NULL AND ExecutionStatus != "ContinuedAsNew"'
"""Executions that are attempts of runs: the parts of one long attempt count as one."""

IDS_AT_ONCE = 100
"""Number of runs in one query: its text stays under 32 KiB."""

COUNTED_AT_ONCE = 8
"""Number of definitions whose runs are counted at once."""

MOST_PAGES = 10
"""Maximum number of Temporal's pages read for one page, if most of their executions were retried since."""

_STATUS_FILTERS = {
    RunStatus.RUNNING: f'ExecutionStatus = "Running" AND ({STATUS.name} IS NULL OR {STATUS.name} = "running")',
    RunStatus.WAITING: f'ExecutionStatus = "Running" AND {STATUS.name} = "waiting"',
    RunStatus.PAUSED: f'ExecutionStatus = "Running" AND {STATUS.name} = "paused"',
    RunStatus.COMPLETED: f'ExecutionStatus = "Completed" AND ({STATUS.name} IS NULL OR {STATUS.name} != "aborted")',
    RunStatus.FAILED: 'ExecutionStatus IN ("Failed", "TimedOut", "Terminated")',
    RunStatus.ABORTED: f'ExecutionStatus = "Completed" AND {STATUS.name} = "aborted"',
    RunStatus.CANCELLED: 'ExecutionStatus = "Canceled"',
}


@dataclass(frozen=True, slots=True)
class Period:
    """A time from `since` to before `until`; None: without that limit."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None


ALWAYS = Period()


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filters for runs; None: any."""

    definition_id: str | None = None
    document_id: str | None = None
    status: RunStatus | None = None
    overdue: bool | None = None
    """True: the deadline has passed; without a status filter, only runs that have not ended."""
    started: Period = ALWAYS
    ended: Period = ALWAYS
    """With a limit, only runs that have ended."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs: the state of the run's last attempt. The list may lag slightly."""

    run_id: str
    definition_id: str
    version: Annotated[int | None, Field(description="null if it cannot be read")]
    document_id: str | None
    file_name: Annotated[str | None, Field(description="of the document, as the uploader claimed")]
    status: RunStatus
    started_at: dt.datetime
    ended_at: dt.datetime | None
    overdue: Annotated[bool, Field(description="whether it had not ended within its definition's `deadline_seconds`")]
    attempts: Annotated[int, Field(description="1, and one more for each retry, as far back as Temporal keeps them")]
    allowed: Annotated[
        list[RunAction],
        Field(description="what the caller may do with it, as far as its status decides; the run itself shows why not"),
    ]
    unreadable: Annotated[
        str | None,
        Field(description="why the rest cannot be read here, such as a missing key; usually null"),
    ] = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs, newest first; it may lag slightly."""

    runs: list[RunSummary]
    after: str | None
    unmatched: Annotated[
        list[Unmatched],
        Field(
            description="if there are no runs: a definition that was never published, a document that was never sent"
        ),
    ]


@dataclass(frozen=True, slots=True)
class DefinitionRuns:
    """Numbers of runs of a definition; they may lag slightly."""

    definition_id: str
    open: Annotated[int, Field(description="running, waiting or paused")]
    failed: Annotated[int, Field(description="failed since then; a run that failed and was retried counts too")]


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Numbers of runs, by definition, in the order asked for."""

    counts: Annotated[list[DefinitionRuns], Field(description="one for each definition")]
    failed_since: Annotated[dt.datetime, Field(description="the moment from which failures count")]


async def list_runs(
    app: App, principal: Principal, wanted: RunFilter, *, limit: int = 100, after: str | None = None
) -> RunPage:
    """Return a page of the tenant's runs, each once. Raises: InvalidInput (an unknown filter or `after`), Unavailable.

    A retried run has an execution for each attempt; only the last one is listed.
    """
    query = _query(principal.tenant_id, wanted)
    place = Place.of(token_of(after, query))
    chunked = await _chunked(app, principal, wanted, place, limit=limit)
    with engine_errors("after", after or ""):
        alone = await _alone(app, principal, query, place, limit=limit)
    runs, place = merged(alone, chunked, place, limit=limit)
    unknown = [] if runs or after else await _unmatched(app, principal.tenant_id, wanted)
    return RunPage(await _named(app, principal, runs), after_of(place.token, query), unknown)


async def _alone(app: App, principal: Principal, query: str, place: Place, *, limit: int) -> Found[RunSummary]:
    """Return the next runs that have workflows of their own, each with the place after it."""
    found, at = list[tuple[RunSummary, Alone]](), place.alone
    for _ in range(MOST_PAGES):
        if at.is_over or len(found) >= limit:
            break
        size = limit + at.skip
        pages = app.temporal.list_workflows(query, page_size=size, next_page_token=at.token, rpc_timeout=RPC_TIMEOUT)
        await pages.fetch_next_page()
        page = list(pages.current_page or ())[at.skip :]
        following = Alone(pages.next_page_token, 0, is_over=pages.next_page_token is None)
        for number, run in await _last_attempts(app, principal, page):
            is_last = number == len(page) - 1
            found.append((run, following if is_last else replace(at, skip=at.skip + number + 1)))
        at = following
    return Found(found, at)


async def _chunked(
    app: App, principal: Principal, wanted: RunFilter, place: Place, *, limit: int
) -> Sequence[RunSummary]:
    """Return the next runs that share workflows, one more than `limit` if there are more."""
    if place.is_chunked_over or wanted.overdue:
        return []
    started, ended = ((period.since, period.until) for period in (wanted.started, wanted.ended))
    status = None if wanted.status is None else str(wanted.status)
    filters = ChunkedFilter(wanted.definition_id, wanted.document_id, status, started, ended)
    rows = await list_newest_chunked(app.db, principal.tenant_id, filters, limit=limit + 1, after=place.chunked)
    return [_of_row(principal, row) for row in rows]


def _of_row(principal: Principal, row: ListedChunkedRun) -> RunSummary:
    status = RunStatus.RUNNING if row.status is None else RunStatus(row.status)
    return RunSummary(
        run_id=row.run_id,
        definition_id=row.definition_id,
        version=row.version,
        document_id=row.document_id,
        file_name=None,
        status=status,
        started_at=row.started_at,
        ended_at=row.ended_at,
        overdue=False,
        attempts=1,
        allowed=_allowed(principal, Situation(status)),
    )


def _allowed(principal: Principal, situation: Situation) -> list[RunAction]:
    return [RunAction(action.name) for action in run_actions(principal, situation) if action.allowed]


async def ends_of_documents(app: App, document_ids: Sequence[str]) -> dict[str, RunStatus]:
    """Return the status in which the last run of each document ended, without those that have an open run.

    For documents of ALL tenants: the caller is a sweep. Raises: Unavailable.
    """
    found: defaultdict[str, list[WorkflowExecution]] = defaultdict(list)
    with engine_errors("documents", ""):
        for ids in _batches(document_ids):
            query = f"{_RUNS} AND {DOCUMENT.name} IN ({', '.join(ids)})"
            async for execution in app.temporal.list_workflows(query, rpc_timeout=RPC_TIMEOUT):
                found[execution.typed_search_attributes[DOCUMENT]].append(execution)
    ended = {id_: runs for id_, runs in found.items() if all(run.close_time is not None for run in runs)}
    return {id_: status_of(max(runs, key=lambda run: run.start_time)) for id_, runs in ended.items()}


async def count_runs(
    app: App, principal: Principal, definition_ids: Sequence[str], failed_since: dt.datetime
) -> RunCounts:
    """Return how many runs of each definition are open, and how many have failed since.

    Raises: InvalidInput, Unavailable.
    """
    turns, wanted = asyncio.Semaphore(COUNTED_AT_ONCE), [*dict.fromkeys(definition_ids)]
    chunked = await count_chunked(app.db, principal.tenant_id, wanted, failed_since)

    async def count(definition_id: str) -> DefinitionRuns:
        async with turns:
            alone = await _counts_of(app, principal.tenant_id, definition_id, failed_since)
        is_open, failed = chunked.get(definition_id, (0, 0))
        return replace(alone, open=alone.open + is_open, failed=alone.failed + failed)

    with engine_errors("definition", ""):
        found = await asyncio.gather(*map(count, wanted))
    return RunCounts(found, failed_since)


async def count_all_open(app: App) -> dict[str, int]:
    """Return how many runs of all tenants have not ended, by status. Raises: Unavailable."""
    open_runs = f'WorkflowType = "{WORKFLOW_TYPE}" AND ExecutionStatus = "Running"'
    special = [RunStatus.WAITING, RunStatus.PAUSED]
    queries = [open_runs, *(f'{open_runs} AND {STATUS.name} = "{status}"' for status in special)]
    with engine_errors("run", ""):
        found = await asyncio.gather(*(app.temporal.count_workflows(each, rpc_timeout=RPC_TIMEOUT) for each in queries))
    everything, *others = [each.count for each in found]
    everything += await count_open_chunked(app.db)
    return {RunStatus.RUNNING: max(everything - sum(others), 0), **dict(zip(special, others, strict=True))}


async def _counts_of(app: App, tenant_id: str, definition_id: str, since: dt.datetime) -> DefinitionRuns:
    runs = _query(tenant_id, RunFilter(definition_id))
    failed = f'{_STATUS_FILTERS[RunStatus.FAILED]} AND CloseTime >= "{_time(since)}"'
    query = f'{runs} AND (ExecutionStatus = "Running" OR ({failed})) GROUP BY ExecutionStatus'
    found = await app.temporal.count_workflows(query, rpc_timeout=RPC_TIMEOUT)
    counts = {str(group.group_values[0]): group.count for group in found.groups}
    running = counts.pop("Running", 0)
    return DefinitionRuns(definition_id, running, sum(counts.values()))


async def _named(app: App, principal: Principal, runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Return the runs with the file names of their documents."""
    ids = {run.document_id for run in runs if run.document_id is not None}
    names = await load_file_names(app.db, principal.tenant_id, [*ids])
    return [replace(run, file_name=names.get(run.document_id or "")) for run in runs]


async def _last_attempts(
    app: App, principal: Principal, found: Sequence[WorkflowExecution]
) -> list[tuple[int, RunSummary]]:
    """Return those of the executions that are the last of their runs, with their numbers."""
    attempts: defaultdict[str, list[WorkflowExecution]] = defaultdict(list)
    for ids in _batches([execution.id for execution in found]):
        query = f"{_RUNS} AND WorkflowId IN ({', '.join(ids)})"
        async for execution in app.temporal.list_workflows(query, rpc_timeout=RPC_TIMEOUT):
            attempts[execution.id].append(execution)
    return [
        (number, await _summary(principal, execution, len(attempts[execution.id])))
        for number, execution in enumerate(found)
        if all(other.start_time <= execution.start_time for other in attempts[execution.id])
    ]


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    quoted = [f'"{id_}"' for id_ in dict.fromkeys(ids)]
    return (quoted[at : at + IDS_AT_ONCE] for at in range(0, len(quoted), IDS_AT_ONCE))


async def _unmatched(app: App, tenant_id: str, wanted: RunFilter) -> list[Unmatched]:
    known: dict[str, list[str]] = {"definition": [], "document": []}
    if wanted.definition_id is not None:
        known["definition"] = await list_ids(app, tenant_id, wanted.definition_id, limit=MOST_COMPARED + 1)
    if wanted.document_id is not None and await load_document(app.db, tenant_id, wanted.document_id) is not None:
        known["document"] = [wanted.document_id]
    return unmatched({"definition": wanted.definition_id, "document": wanted.document_id}, known)


def _query(tenant_id: str, wanted: RunFilter) -> str:
    conditions = [_RUNS, f'{TENANT.name} = "{safe_value("tenant", tenant_id)}"']
    if wanted.definition_id is not None:
        conditions.append(f'{DEFINITION.name} = "{safe_value("definition", wanted.definition_id)}"')
    if wanted.document_id is not None:
        conditions.append(f'{DOCUMENT.name} = "{safe_value("document", wanted.document_id)}"')
    if wanted.status is not None:
        conditions.append(f"({_status_filter(wanted.status)})")
    if wanted.overdue is not None:
        conditions.append(f'{OVERDUE.name} = "true"' if wanted.overdue else f"{OVERDUE.name} IS NULL")
    if wanted.overdue and wanted.status is None:
        conditions.append('ExecutionStatus = "Running"')
    conditions += [*_within("StartTime", wanted.started), *_within("CloseTime", wanted.ended)]
    return " AND ".join(conditions)


def _within(name: str, period: Period) -> Iterator[str]:
    if period.since is not None:
        yield f'{name} >= "{_time(period.since)}"'
    if period.until is not None:
        yield f'{name} < "{_time(period.until)}"'


def _time(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def safe_value(name: str, value: str) -> str:
    """Return `value` if it needs no quoting in a visibility query. Raises: InvalidInput."""
    if not _SAFE_VALUE.fullmatch(value):
        raise InvalidInput([InputProblem(name, "is not an id")])
    return value


def _status_filter(status: RunStatus) -> str:
    if status not in _STATUS_FILTERS:
        raise InvalidInput([InputProblem("status", f"no run is {status}: before it is triggered it is an execution")])
    return _STATUS_FILTERS[status]


async def _summary(principal: Principal, execution: WorkflowExecution, attempts: int) -> RunSummary:
    """Return the line of a run. One whose key is missing here has less in it, and does not hide the others."""
    status, version, unreadable = status_of(execution), None, None
    situation = Situation(status, is_nested=execution.parent_id is not None)
    try:
        version = (await execution.memo())["version"]
    except PayloadKeyError as error:
        unreadable = str(error)
    return RunSummary(
        run_id=run_id_of(execution.id),
        definition_id=execution.typed_search_attributes[DEFINITION],
        version=version,
        document_id=execution.typed_search_attributes.get(DOCUMENT),
        file_name=None,
        status=status,
        started_at=execution.start_time,
        ended_at=execution.close_time,
        overdue=execution.typed_search_attributes.get(OVERDUE) is not None,
        attempts=max(attempts, 1),
        allowed=_allowed(principal, situation),
        unreadable=unreadable,
    )
