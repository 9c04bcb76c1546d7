"""Decrypt and encrypt payloads for Temporal's own tools, which show histories and send signals."""

import base64
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Base64Bytes, BeforeValidator, WithJsonSchema
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError
from temporalio.api.common.v1 import Payload

from docrail.adapters.temporal.codec import owner_of
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, Principal
from docrail.services.app import App
from docrail.services.model_config import SHOWN
from docrail.workflows.contract.names import tenant_of

BASE64_PATTERN = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_CHARACTERS = re.compile("[A-Za-z0-9+/]*={0,2}")


def _base64(value: Json) -> Json:
    """Refuse text that decoders read in different ways. Together, the two tests are the pattern, and faster."""
    if isinstance(value, str) and (len(value) % 4 or not _CHARACTERS.fullmatch(value)):
        raise PydanticCustomError("base64", "must be base64 with padding (RFC 4648, section 4)")
    return value


Base64 = Annotated[
    Base64Bytes,
    BeforeValidator(_base64),
    WithJsonSchema({"type": "string", "format": "base64", "pattern": BASE64_PATTERN}),
]


@dataclass(frozen=True, slots=True, config=SHOWN)
class EncodedPayload:
    """A value as Temporal transports it. Its bytes are in base64."""

    metadata: dict[str, Base64]
    """How the value is encoded: `encoding`, and the names of the key and the workflow if it is encrypted."""
    data: Base64 = b""
    """The encoded value."""


async def decode_payloads(app: App, principal: Principal, payloads: Sequence[EncodedPayload]) -> list[EncodedPayload]:
    """Return the payloads, those of the principal's tenant decrypted. Raises: PayloadKeyError."""
    codec = app.temporal.data_converter.payload_codec
    assert codec is not None, "every client of ours has a codec"
    found = [*map(_proto, payloads)]
    shown = [await codec.decode([each]) if _may_see(principal, each) else [each] for each in found]
    return [_shown(payload) for [payload] in shown]


async def encode_payloads(app: App, payloads: Sequence[EncodedPayload]) -> list[EncodedPayload]:
    """Return the payloads encrypted; they belong to no workflow yet."""
    codec = app.temporal.data_converter.payload_codec
    assert codec is not None, "every client of ours has a codec"
    return [_shown(payload) for payload in await codec.encode([*map(_proto, payloads)])]


def _may_see(principal: Principal, payload: Payload) -> bool:
    """Check whether a payload belongs to the principal's tenant; those of schedules are the default tenant's."""
    owner = owner_of(payload)
    return owner is None or principal.tenant_id == (tenant_of(owner) if "/" in owner else DEFAULT_TENANT)


def _proto(payload: EncodedPayload) -> Payload:
    return Payload(metadata=payload.metadata, data=payload.data)


def _shown(payload: Payload) -> EncodedPayload:
    metadata = {name: base64.b64encode(value) for name, value in payload.metadata.items()}
    return EncodedPayload(metadata=metadata, data=base64.b64encode(payload.data))
