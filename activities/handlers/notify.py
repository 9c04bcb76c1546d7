"""Handler `notify`: notify the operators of this installation by their webhook, or else in the worker's log."""

import logging
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from docrail.adapters.http.webhooks import Message, deliver
from docrail.dag.values.json_values import Json, canonical
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools

Level = Literal["info", "warning", "error"]

LEVELS: Mapping[Level, int] = {"info": logging.WARNING, "warning": logging.WARNING, "error": logging.ERROR}
"""Log levels: notifications are for people, so they use levels that logs show by default."""

log = logging.getLogger(__name__)


class Config(BaseModel, extra="forbid", frozen=True):
    """The notification."""

    message: str = Field(min_length=1, max_length=4000, description="the text")
    title: str = Field(default="", max_length=200, description="a heading")
    level: Level = Field(default="info", description="the severity")
    details: dict[str, Json] = Field(default_factory=dict, description="further values, for programs")


class Output(BaseModel):
    """Where the notification was sent."""

    sent_to: Literal["webhook", "log"] = Field(
        description="`webhook`: DOCRAIL_NOTIFY_URL; `log`: the worker's log, if that is not set"
    )
    notification_id: str = Field(description="the `webhook-id`, the same for every attempt")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Post the notification as JSON with a `text` for chat programs, signed with the tenant's secret `webhooks`.

    Raises: RequestRefusedError (never retried); TryAgainLaterError, UnreachableError, OutgoingTimeoutError
    (retried); RefusedAddressError (left to another worker).
    """
    outside, notification_id = tools.outside, f"ntf_{call.identity[:32]}"
    body = _body(call)
    if outside.notify_url is None:
        log.log(LEVELS[call.config.level], "%s (%s) %s", body["text"], call.run_id, canonical(call.config.details))
        return Output(sent_to="log", notification_id=notification_id)
    await deliver(Message(call.tenant_id, notification_id, outside.notify_url, body), outside.http, outside.secrets)
    return Output(sent_to="webhook", notification_id=notification_id)


def _body(call: StepCall[Config]) -> dict[str, Json]:
    config = call.config
    text = f"{config.title}: {config.message}" if config.title else config.message
    where = {"tenant_id": call.tenant_id, "run_id": call.run_id, "step_id": call.step_id}
    return {"text": f"[{config.level}] {text}", **config.model_dump(), **where}


HANDLER = Handler("notify", Config, Output, run)
