"""Activity that records a failed step in the dead-letter table."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.services.failures.service import record_report
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import DeadLetter


def dead_letter_activity(tools: Tools) -> Callable[[DeadLetter], Awaitable[None]]:
    """Return the activity. The run retries it until it succeeds, and again after a crash: it is safe to repeat."""

    @activity.defn(name="record_dead_letter")
    async def record_dead_letter(letter: DeadLetter) -> None:
        await record_report(tools.db, letter)

    return record_dead_letter
