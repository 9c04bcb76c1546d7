"""Notice changes of runs in Temporal, which is the truth about them, without a part of the run or a worker.

Nothing is asked while no one listens. Temporal counts the transitions of a run, so that one cheap call shows whether
anything in it has moved: a step that started, an attempt that failed, a wait that ended.
"""

import datetime as dt
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field

from docrail.services.app import App
from docrail.services.engine import ALL_RUNS, RPC_TIMEOUT, engine_errors
from docrail.services.errors import NotFound
from docrail.services.events.models import Change, Happened, Kind
from docrail.services.runs.executing import describe
from docrail.workflows.contract.names import run_id_of, tenant_of

OVERLAP = dt.timedelta(seconds=10)
"""How long Temporal's visibility store may lag behind a start or an end that is not to be missed."""
MOST_LISTED = 1_000
"""Maximum starts and ends of one look."""

Run = tuple[str, str]
"""A tenant and the id of one of its runs."""


@dataclass(slots=True)
class WatchedRuns:
    """The runs that clients look at, and what was seen of them last."""

    _seen: dict[Run, tuple[str, int]] = field(default_factory=dict)

    async def changed(self, app: App, watched: Collection[Run]) -> AsyncIterator[Happened]:
        """Yield each watched run that has moved since the last call; at first each. Raises: Unavailable."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in watched}
        for run in watched:
            try:
                info = (await describe(app, *run)).raw_description.workflow_execution_info
            except NotFound:  # Temporal has deleted it
                continue
            seen = info.execution.run_id, info.state_transition_count
            if self._seen.get(run) != seen:
                self._seen[run] = seen
                yield happened(*run)


@dataclass(slots=True)
class StartsAndEnds:
    """Runs of all tenants that have started or ended lately, as Temporal lists them."""

    _since: dt.datetime | None = None
    _seen: dict[tuple[str, str, bool], dt.datetime] = field(default_factory=dict)

    async def new(self, app: App) -> AsyncIterator[Happened]:
        """Yield each run that started or ended since the last call; at first the latest. Raises: Unavailable."""
        now = dt.datetime.now(dt.UTC)
        since, self._since = (self._since or now) - OVERLAP, now
        self._seen = {key: at for key, at in self._seen.items() if at > since - OVERLAP}
        moment = since.isoformat()
        query = f'{ALL_RUNS} AND (StartTime >= "{moment}" OR CloseTime >= "{moment}")'
        with engine_errors("runs", query):
            async for run in app.temporal.list_workflows(query, limit=MOST_LISTED, rpc_timeout=RPC_TIMEOUT):
                key = run.id, run.run_id, run.close_time is not None
                if key not in self._seen:
                    yield happened(tenant_of(run.id), run_id_of(run.id))
                self._seen[key] = now


def happened(tenant_id: str, run_id: str) -> Happened:
    """Return that a run has changed now."""
    return Happened(tenant_id, Change(Kind.RUN, run_id, time.time_ns() // 1000), run_id)
