"""Activity that records an overdue run: a row, a counter, a log entry and a notification, once each.

The row must be written, so that is retried until it succeeds. A notification is only retried for a while: the end of
the run waits for this activity, and an unavailable receiver must not keep a run from ending.
"""

import datetime as dt
import logging
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.activities.internal.notifications import MAY_PASS, Notification, send
from docrail.dag.values.json_values import digest
from docrail.services.runs.service import insert_overdue, is_notified, mark_notified
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import OverdueRun

NOTIFY_SECONDS = 120.0
"""How long a failed notification is retried."""

log = logging.getLogger(__name__)


def overdue_activity(tools: Tools) -> Callable[[OverdueRun], Awaitable[None]]:
    """Return the activity. The run retries it until it succeeds, and again after a crash: it is safe to repeat."""

    @activity.defn(name="record_overdue")
    async def record_overdue(run: OverdueRun) -> None:
        if await insert_overdue(tools.db, run):
            tools.metrics.overdue.labels(run.definition_id).inc()
            log.warning("%s (%s, tenant %s)", _message(run), run.definition_id, run.tenant_id)
        if tools.outside.notify_url is not None and not await is_notified(tools.db, run):
            await _notify(run, tools.outside.notify_url, tools)

    return record_overdue


async def _notify(run: OverdueRun, url: str, tools: Tools) -> None:
    """Post the notification. Raises: transient errors, as long as there is time to retry."""
    try:
        is_sent = await send(tools, url, _notification(run))
    except MAY_PASS as error:
        if dt.datetime.now(dt.UTC) - activity.info().scheduled_time < dt.timedelta(seconds=NOTIFY_SECONDS):
            raise
        log.error("not sent within %g s: %s: %s", NOTIFY_SECONDS, _message(run), error)  # noqa: TRY400  # said in full
    else:
        if is_sent:
            await mark_notified(tools.db, run)


def _message(run: OverdueRun) -> str:
    return f"the run {run.run_id} is overdue: it had not ended {run.deadline_seconds:g} s after its start"


def _notification(run: OverdueRun) -> Notification:
    """Return the notification. Its id is the same for every attempt, another one once the run was retried."""
    started_at = dt.datetime.fromtimestamp(run.started_at, dt.UTC).isoformat()
    details = run.model_dump(include={"definition_id", "version", "document_id", "deadline_seconds"})
    return Notification(
        tenant_id=run.tenant_id,
        message_id=f"ovd_{digest([run.tenant_id, run.run_id, run.started_at])[:32]}",
        title="Overdue",
        level="warning",
        message=_message(run),
        details={**details, "started_at": started_at},
        run_id=run.run_id,
    )
