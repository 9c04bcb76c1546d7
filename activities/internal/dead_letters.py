"""The activity behind a run's word of a failed step: writes it into the dead-letter inbox."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.services.failures.service import tell
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import DeadLetter


def dead_letter_activity(tools: Tools) -> Callable[[DeadLetter], Awaitable[None]]:
    """Return the activity. The run tries it until it works, and again after a crash: it is safe to repeat."""

    @activity.defn(name="record_dead_letter")
    async def record_dead_letter(letter: DeadLetter) -> None:
        await tell(tools.db, letter)

    return record_dead_letter
