"""The activity behind a run's word of a failed step: writes it into the dead-letter inbox."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.tools import Tools
from dag.calls import DeadLetter
from storage.dead_letters import tell


def dead_letter_activity(tools: Tools) -> Callable[[DeadLetter], Awaitable[None]]:
    """Return the activity. The run tries it until it works, and again after a crash: it is safe to repeat."""

    @activity.defn(name="record_dead_letter")
    async def record_dead_letter(letter: DeadLetter) -> None:
        await tell(tools.db, letter)

    return record_dead_letter
