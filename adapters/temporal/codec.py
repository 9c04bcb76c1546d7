"""Encrypt what goes through Temporal with AES-256-GCM, so that its server and database hold no content.

An encrypted payload names its key and its workflow in clear. Both are associated data: a payload that was moved to
another workflow, or whose key was renamed, is refused. Payloads without encryption are still read, so that encryption
can be turned on while runs are open.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    PayloadConverter,
    SerializationContext,
    WithSerializationContext,
)
from temporalio.exceptions import ApplicationError

from docrail.adapters.temporal.keys import SETTING, PayloadKeys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENCODING = b"binary/encrypted"
KEY_ID, WORKFLOW_ID = "encryption-key-id", "encryption-workflow-id"
"""Names in a payload's metadata; the encoding and the first name are those of Temporal's own samples."""

NONCE_BYTES = 12
"""Random, and so safe for 2^32 payloads of one key (NIST SP 800-38D, 8.3)."""

_DOMAIN = b"docrail payload 1"
_AT = re.compile(r"-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


class PayloadKeyError(Exception):
    """A payload cannot be decrypted by this process; with another setting, or in another process, it may be."""


class PayloadEncryption(PayloadCodec, WithSerializationContext):
    """Temporal's interface to the keys. Without keys it encrypts nothing, and says which key is missing."""

    def __init__(self, keys: PayloadKeys, workflow_id: str = "") -> None:
        self._ciphers = _ciphers_of(keys)
        self._first = next(iter(self._ciphers), None)
        self._workflow_id = workflow_id

    def with_context(self, context: SerializationContext) -> Self:
        """Return the codec of the workflow that the payloads belong to.

        Without keys it is the same one: for another, Temporal's SDK makes new converters for every task.
        """
        if self._first is None:
            return self
        bound = object.__new__(type(self))
        bound._ciphers, bound._first = self._ciphers, self._first
        bound._workflow_id = getattr(context, "workflow_id", None) or ""
        return bound

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt payloads with the first key."""
        return list(payloads) if self._first is None else [self._encrypted(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt those payloads that are encrypted. Raises: PayloadKeyError."""
        return [self._decrypted(each) if each.metadata.get("encoding") == ENCODING else each for each in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        assert self._first is not None
        key_id, workflow_id, nonce = self._first.encode(), self._workflow_id.encode(), os.urandom(NONCE_BYTES)
        sealed = self._ciphers[self._first].encrypt(nonce, payload.SerializeToString(), _bound(key_id, workflow_id))
        metadata = {"encoding": ENCODING, KEY_ID: key_id, WORKFLOW_ID: workflow_id}
        return Payload(metadata=metadata, data=nonce + sealed)

    def _decrypted(self, payload: Payload) -> Payload:
        key_id, workflow_id = payload.metadata.get(KEY_ID, b""), payload.metadata.get(WORKFLOW_ID, b"")
        name = key_id.decode("utf-8", "replace")
        cipher = self._ciphers.get(name)
        if cipher is None:
            has = ", ".join(self._ciphers) or "none"
            raise PayloadKeyError(f"a payload is encrypted with the key {name[:32]!r}: {SETTING} here has {has}")
        self._check_workflow(workflow_id.decode("utf-8", "replace"))
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # as in _ciphers_of

        try:
            opened = cipher.decrypt(payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:], _bound(key_id, workflow_id))
        except (InvalidTag, ValueError):
            reason = f"{SETTING} has another key of that id, or the payload was changed"
            raise PayloadKeyError(f"a payload cannot be decrypted with the key {name!r}: {reason}") from None
        return Payload.FromString(opened)

    def _check_workflow(self, bound: str) -> None:
        if not bound or self._workflow_id in ("", bound):  # Temporal's tools know no workflow
            return
        if "/" not in bound and _schedule_of(bound) == _schedule_of(self._workflow_id):
            return  # its own arguments, or the result of the workflow before, which Temporal hands to the next one
        raise PayloadKeyError(f"a payload of the workflow {bound[:200]!r} is in {self._workflow_id!r}: it was moved")


def _schedule_of(workflow_id: str) -> str:
    """Return the schedule's id: each of its workflows has the time appended to it."""
    return _AT.sub("", workflow_id)


def _ciphers_of(keys: PayloadKeys) -> "dict[str, AESGCM]":
    if not keys.keys:
        return {}
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # without keys, 8 MB for nothing

    return {name: AESGCM(key) for name, key in keys.keys.items()}


def owner_of(payload: Payload) -> str | None:
    """Return the id of the workflow that an encrypted payload belongs to, "" if to none; None: it is not encrypted."""
    if payload.metadata.get("encoding") != ENCODING:
        return None
    return payload.metadata.get(WORKFLOW_ID, b"").decode("utf-8", "replace")


async def decrypt(message: Message, converter: DataConverter) -> None:
    """Decrypt all payloads in a message of Temporal's, such as an event, in place. Raises: PayloadKeyError."""
    codec = converter.payload_codec
    if codec is None:
        return
    for payload in payloads_in(message):
        [readable] = await codec.decode([payload])
        if readable is not payload:
            payload.CopyFrom(readable)


def payloads_in(message: Message) -> Iterator[Payload]:
    """Yield the payloads in a message of Temporal's, at any depth."""
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():
        for part in _messages_of(field.message_type, value):
            yield from payloads_in(part)


def _messages_of(kind: Descriptor | None, value: Any) -> Iterable[Message]:
    """Return the messages in the value of a field: one, a list, or the values of a map."""
    if kind is None:
        return ()
    if kind.GetOptions().map_entry:
        return value.values() if kind.fields_by_name["value"].message_type else ()
    return (value,) if isinstance(value, Message) else value


def _bound(key_id: bytes, workflow_id: bytes) -> bytes:
    return b"\0".join((_DOMAIN, key_id, workflow_id))


class Failures(DefaultFailureConverterWithEncodedAttributes):
    """Temporal's, with messages and stack traces as payloads, which are encrypted.

    An error about a key stays readable: whoever lacks the key must see which one it is.
    """

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Write the exception into `failure`."""
        key_error = _key_error(exception)
        if key_error is None:
            super().to_failure(exception, payload_converter, failure)
        else:
            DefaultFailureConverter().to_failure(key_error, payload_converter, failure)


class PlainFailures(DefaultFailureConverter):
    """Temporal's, but an error about a key is written without the error that it caused."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Write the exception into `failure`."""
        super().to_failure(_key_error(exception) or exception, payload_converter, failure)


def _key_error(error: BaseException) -> ApplicationError | None:
    """Return the error of a task whose input cannot be decrypted; Temporal has it as a cause, or as no error of ours.

    Without details: they would be encrypted. Its type says that the worker lacks what the step needs.
    """
    found = next((each for each in (error, error.__cause__) if isinstance(each, PayloadKeyError)), None)
    return None if found is None else ApplicationError(str(found), type=PayloadKeyError.__name__)


def data_converter(keys: PayloadKeys) -> DataConverter:
    """Return the converter of every client: JSON by pydantic, encrypted if there are keys."""
    return replace(
        pydantic_data_converter,
        payload_codec=PayloadEncryption(keys),
        failure_converter_class=Failures if keys.keys else PlainFailures,
    )
