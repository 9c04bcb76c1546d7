"""Handler `send_webhook`: post a signed JSON message to a URL; its receiver can verify it, and detect repetitions."""

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, Field

from docrail.adapters.http.client import checked_url
from docrail.adapters.http.webhooks import Message, deliver
from docrail.adapters.secrets import name_of, refuse_references
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools


def _url(text: str) -> str:
    checked_url(text)
    return text


def _reference(text: str) -> str:
    name_of(text)
    return text


class Config(BaseModel, extra="forbid", frozen=True):
    """The message and its destination."""

    url: Annotated[str, AfterValidator(_url)] = Field(max_length=8192, description="http:// or https://")
    body: Annotated[Json, AfterValidator(refuse_references)] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("body", "payload"),
        description="the message, any JSON; `payload` is an alias",
    )
    secret: Annotated[str, AfterValidator(_reference)] | None = Field(
        default=None,
        description="the signing key, as `secret://name`; default: the tenant's secret `webhooks`, which `docrail up` "
        "creates; without either the message is unsigned",
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="additional headers; `secret://name` is replaced by the secret"
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, le=300, allow_inf_nan=False, description="timeout of the request"
    )


class Output(BaseModel):
    """The receiver's response."""

    webhook_id: str = Field(description="the message's `webhook-id`, the same for every attempt")
    status: int = Field(description="the receiver's HTTP status, 2xx")
    signed: bool = Field(description="whether the message was signed")
    result: Json = Field(description="the receiver's answer, JSON or text; null if empty or larger than 16 KiB")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Post the message, and return once its receiver has accepted it. It may arrive twice, with the same `webhook-id`.

    Raises: MissingSecretError, RefusedSecretError, RequestRefusedError (never retried); TryAgainLaterError,
    UnreachableError, OutgoingTimeoutError (retried); RefusedAddressError (left to another worker).
    """
    config = call.config
    message_id = f"msg_{call.identity[:32]}"
    message = Message(
        call.tenant_id,
        message_id,
        config.url,
        config.body,
        None if config.secret is None else name_of(config.secret),
        config.headers,
        config.timeout_seconds,
        call.secrets,
    )
    delivery = await deliver(message, tools.outside.http, tools.outside.secrets)
    return Output(webhook_id=message_id, status=delivery.status, signed=delivery.signed, result=delivery.result)


HANDLER = Handler("send_webhook", Config, Output, run, aliases=("send_webhook_event", "SendWebhookEvent"))
