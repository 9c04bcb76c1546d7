"""Activity of triggers. Definitions cannot name it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio import activity

from docrail.activities.internal.final_errors import final_errors
from docrail.services.app import App
from docrail.services.tools import Outside
from docrail.services.triggers.firing import fire
from docrail.services.triggers.mailbox import MailAccess
from docrail.workflows.contract.messages import TriggerPass, TriggerReport
from docrail.workflows.contract.names import FIRE_TRIGGER


def trigger_activity(
    app: App, inbox: Path | None, outside: Outside
) -> Callable[[TriggerPass], Awaitable[TriggerReport]]:
    """Return the activity that carries out one pass; `inbox`: the folder of watched folders. It is safe to repeat."""
    mail = MailAccess(outside.http, outside.secrets)

    @activity.defn(name=FIRE_TRIGGER)
    async def fire_trigger(work: TriggerPass) -> TriggerReport:
        with final_errors():
            return await fire(app, inbox, mail, work, activity.heartbeat)

    return fire_trigger
