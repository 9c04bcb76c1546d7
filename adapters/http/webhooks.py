"""Post signed messages according to Standard Webhooks, so that receivers can verify them and detect repetitions."""

import binascii
import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from standardwebhooks import Webhook
from standardwebhooks.webhooks import EmptyWebhookSecretError

from docrail.adapters.http.client import Answer, HttpClient, Outgoing, checked_url, read_json
from docrail.adapters.http.errors import AnswerUnusableError
from docrail.adapters.http.exchange import Sender
from docrail.adapters.secrets import SecretStore
from docrail.dag.values.json_values import Json

DEFAULT_SECRET = "webhooks"  # noqa: S105  # its name
"""Default signing secret of a tenant. If the tenant has none, messages without a named secret are unsigned."""

MAX_ANSWER_BYTES = 16_384
"""Largest answer read: a receiver's answer to a notification is short; the rest is ignored."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to post. `message_id` is the same for every attempt; `secret` names the signing key.

    `named`: the secrets that the definition's author wrote; no others are used.
    """

    tenant_id: str
    message_id: str
    url: str
    body: Json
    secret: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_seconds: float = 30.0
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of a delivery. `result`: the receiver's answer, JSON or text; None if it was empty or too large."""

    status: int
    signed: bool
    result: Json


async def deliver(message: Message, http: HttpClient, secrets: SecretStore) -> Delivery:
    """Post the message and return once the receiver has accepted it (2xx).

    Raises: MissingSecretError, RefusedSecretError, RequestRefusedError, ValueError (never retried);
    RefusedAddressError, TryAgainLaterError, UnreachableError, OutgoingTimeoutError (retried).
    """
    payload = json.dumps(message.body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    signature = sign(message.message_id, payload, await _keys(message, secrets), at=dt.datetime.now(dt.UTC))
    headers = {**message.headers, "Content-Type": "application/json", **signature}
    outgoing = Outgoing("POST", message.url, headers, payload.encode(), message.timeout_seconds, MAX_ANSWER_BYTES)
    sender = Sender(http, secrets, message.tenant_id, message.named)
    answer = await sender.exchange(outgoing, {}, may_be_cut=True)
    return Delivery(answer.status, signed="webhook-signature" in signature, result=_content(answer))


def sign(message_id: str, payload: str, keys: list[str], *, at: dt.datetime) -> dict[str, str]:
    """Return the headers of Standard Webhooks; several keys, during a rotation, give several signatures.

    A key that begins with `whsec_` is base64 after that prefix, any other is used literally. Raises: ValueError.
    """
    headers = {"webhook-id": message_id, "webhook-timestamp": str(int(at.timestamp()))}
    if keys:
        headers["webhook-signature"] = " ".join(_signer(key).sign(message_id, at, payload) for key in keys)
    return headers


def _signer(key: str) -> Webhook:
    try:
        return Webhook(key if key.startswith("whsec_") else key.encode())
    except (binascii.Error, EmptyWebhookSecretError):
        raise ValueError("the key that signs begins with whsec_, and what follows is not base64") from None


def _content(answer: Answer) -> Json:
    text = answer.text() if answer.complete else ""
    try:
        return read_json(text, answer.request) if answer.is_json and text else text or None
    except AnswerUnusableError:  # the message was accepted: the body is only informative
        return text


async def _keys(message: Message, secrets: SecretStore) -> list[str]:
    """Return the keys in the secret, one per line."""
    if message.secret is None:
        found = await secrets.find(message.tenant_id, DEFAULT_SECRET) or ""
    else:
        found = await secrets.load(message.tenant_id, message.secret, field="secret", named=message.named)
        await secrets.check_host(message.tenant_id, message.secret, checked_url(message.url).host)
    return [key for line in found.splitlines() if (key := line.strip())]
