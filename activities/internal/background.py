"""Activities of every minute: they complete the work of processes that died, copy ended runs, and keep metrics.

Definitions cannot name them.
"""

import datetime as dt
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.services.app import App
from docrail.services.batches.service import start_waiting_batches
from docrail.services.events.service import forget_events
from docrail.services.exports.service import start_waiting_exports
from docrail.services.intake.service import note_ended_documents, start_waiting_documents
from docrail.services.reviews.run_answers import answer_waiting_runs
from docrail.services.runs.views.ended import copy_ended_runs
from docrail.services.totals.service import keep_snapshot
from docrail.workflows.contract.names import (
    ANSWER_RUNS,
    COPY_ENDED_RUNS,
    FORGET_EVENTS,
    KEEP_METRICS,
    NOTE_ENDS,
    START_BATCHES,
    START_DOCUMENTS,
    START_EXPORTS,
)


def background_activities(app: App) -> list[Callable[[], Awaitable[int]]]:
    """Return the activities.

    Each returns its number of completed items, is safe to repeat, and limits its own duration.
    """

    @activity.defn(name=START_DOCUMENTS)
    async def start_documents() -> int:
        return await start_waiting_documents(app)

    @activity.defn(name=NOTE_ENDS)
    async def note_ends() -> int:
        return await note_ended_documents(app)

    @activity.defn(name=ANSWER_RUNS)
    async def answer_runs() -> int:
        return await answer_waiting_runs(app)

    @activity.defn(name=START_EXPORTS)
    async def start_exports() -> int:
        return await start_waiting_exports(app)

    @activity.defn(name=START_BATCHES)
    async def start_batches() -> int:
        return await start_waiting_batches(app)

    @activity.defn(name=COPY_ENDED_RUNS)
    async def copy_runs() -> int:
        return await copy_ended_runs(app)

    @activity.defn(name=FORGET_EVENTS)
    async def forget() -> int:
        return await forget_events(app.db)

    @activity.defn(name=KEEP_METRICS)
    async def keep_metrics() -> int:
        return await keep_snapshot(app, dt.datetime.now(dt.UTC))

    return [start_documents, note_ends, answer_runs, start_exports, start_batches, copy_runs, forget, keep_metrics]
