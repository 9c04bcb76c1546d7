"""The activities that finish what a process that died has left undone. No definition names them."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.services.app import App
from docrail.services.intake.service import start_waiting_documents
from docrail.services.reviews.run_answers import answer_waiting_runs
from docrail.workflows.contract.names import ANSWER_RUNS, START_DOCUMENTS


def background_activities(app: App) -> list[Callable[[], Awaitable[int]]]:
    """Return the activities. Each returns how much it did, is safe to repeat, and starts nothing after a while."""

    @activity.defn(name=START_DOCUMENTS)
    async def start_documents() -> int:
        return await start_waiting_documents(app)

    @activity.defn(name=ANSWER_RUNS)
    async def answer_runs() -> int:
        return await answer_waiting_runs(app)

    return [start_documents, answer_runs]
