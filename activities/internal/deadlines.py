"""Activity that records an overdue run: a row, a counter, a log entry and a notification, once each.

The row must be written, so that is retried until it succeeds. A notification is only retried for a while: the end of
the run waits for this activity, and an unavailable receiver must not keep a run from ending.
"""

import datetime as dt
import logging
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.adapters.http.addresses import RefusedAddressError
from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.http.webhooks import Message, deliver
from docrail.dag.values.json_values import Json, digest
from docrail.services.runs.service import insert_overdue, is_notified, mark_notified
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import OverdueRun

NOTIFY_SECONDS = 120.0
"""How long a failed notification is retried."""

ONE_TRY_SECONDS = 10.0
"""Timeout of one attempt to notify; the activity's own timeout is longer."""

log = logging.getLogger(__name__)


def overdue_activity(tools: Tools) -> Callable[[OverdueRun], Awaitable[None]]:
    """Return the activity. The run retries it until it succeeds, and again after a crash: it is safe to repeat."""

    @activity.defn(name="record_overdue")
    async def record_overdue(run: OverdueRun) -> None:
        if await insert_overdue(tools.db, run):
            tools.metrics.count_overdue(run.definition_id)
            log.warning("%s (%s, tenant %s)", _message(run), run.definition_id, run.tenant_id)
        if tools.outside.notify_url is not None and not await is_notified(tools.db, run):
            await _notify(run, tools.outside.notify_url, tools)

    return record_overdue


async def _notify(run: OverdueRun, url: str, tools: Tools) -> None:
    """Post the notification. Raises: transient errors, as long as there is time to retry."""
    message = Message(run.tenant_id, _message_id(run), url, _body(run), timeout_seconds=ONE_TRY_SECONDS)
    try:
        await deliver(message, tools.outside.http, tools.outside.secrets)
    except (TryAgainLaterError, OSError) as error:
        if dt.datetime.now(dt.UTC) - activity.info().scheduled_time < dt.timedelta(seconds=NOTIFY_SECONDS):
            raise
        log.error("nobody was notified that %s: %s", _message(run), error)  # noqa: TRY400  # said in full
    except (ValueError, RefusedAddressError) as error:
        log.error("nobody can be notified that %s: %s", _message(run), error)  # noqa: TRY400  # said in full
    else:
        await mark_notified(tools.db, run)


def _message_id(run: OverdueRun) -> str:
    """Return the `webhook-id`: the same for every attempt, another one once the run was retried."""
    return f"ovd_{digest([run.tenant_id, run.run_id, run.started_at])[:32]}"


def _message(run: OverdueRun) -> str:
    return f"the run {run.run_id} is overdue: it had not ended {run.deadline_seconds:g} s after its start"


def _body(run: OverdueRun) -> dict[str, Json]:
    """Return the notification in the format of the handler `notify`."""
    started_at = dt.datetime.fromtimestamp(run.started_at, dt.UTC).isoformat()
    told = run.model_dump(include={"definition_id", "version", "document_id", "deadline_seconds"})
    return {
        "text": f"[warning] {_message(run)}",
        "title": "Overdue",
        "message": _message(run),
        "level": "warning",
        "details": {**told, "started_at": started_at},
        "tenant_id": run.tenant_id,
        "run_id": run.run_id,
        "step_id": None,
    }
