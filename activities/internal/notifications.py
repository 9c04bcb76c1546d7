"""Post notifications of the internal activities to the operators' webhook, in the format of the handler `notify`."""

import html
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from docrail.adapters.http.errors import TryAgainLaterError, WorkerNotConfiguredError
from docrail.adapters.http.webhooks import Message, deliver
from docrail.dag.values.json_values import Json
from docrail.services.tools import Tools

MAY_PASS = (TryAgainLaterError, WorkerNotConfiguredError, OSError)
"""Errors after which another try may succeed: the receiver is unavailable, or this worker may not call its host."""

TIMEOUT_SECONDS = 10.0
"""Timeout of one try, well within those of the activities."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification; `message_id` is the same for every try."""

    tenant_id: str
    message_id: str
    title: str
    level: Literal["warning", "error"]
    message: str
    details: Mapping[str, Json]
    run_id: str | None


async def send(tools: Tools, url: str, notification: Notification) -> bool:
    """Post the notification; False, with a line in the log, if it never will be accepted. Raises: MAY_PASS."""
    body: dict[str, Json] = {
        # Chats interpret markup: senders of documents must not be able to write links.
        "text": f"[{notification.level}] {html.escape(notification.message, quote=False)}",
        "title": notification.title,
        "message": notification.message,
        "level": notification.level,
        "details": dict(notification.details),
        "tenant_id": notification.tenant_id,
        "run_id": notification.run_id,
        "step_id": None,
    }
    message = Message(notification.tenant_id, notification.message_id, url, body, timeout_seconds=TIMEOUT_SECONDS)
    try:
        await deliver(message, tools.outside.http, tools.outside.secrets)
    except ValueError as error:
        log.error("the notification that %s cannot be sent: %s", notification.message, error)  # noqa: TRY400  # said in full
        return False
    return True
