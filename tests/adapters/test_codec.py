"""The payload codec: what is bound to what, how keys are rotated, and which error says what is missing."""

import base64
import os
from collections.abc import Mapping

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import ActivitySerializationContext, WorkflowSerializationContext

from docrail.adapters.temporal.codec import PayloadEncryption, PayloadKeyError, data_converter, decrypt, owner_of
from docrail.adapters.temporal.connection import Connection
from docrail.adapters.temporal.keys import NO_KEYS, PayloadKeys, parse_payload_keys
from docrail.workflows.failures import PAYLOAD_KEY_MISSING

OLD, NEW = os.urandom(32), os.urandom(32)
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"the total is 12.50"')


def codec(workflow_id: str = "default/a/1", **keys: bytes) -> PayloadEncryption:
    return PayloadEncryption(PayloadKeys(keys or {"old": OLD})).with_context(
        WorkflowSerializationContext("default", workflow_id)
    )


async def sealed(by: PayloadEncryption) -> Payload:
    [payload] = await by.encode([PLAIN])
    return payload


async def opened(by: PayloadEncryption, payload: Payload) -> Payload:
    [found] = await by.decode([payload])
    return found


def changed(payload: Payload, data: bytes | None = None, **metadata: bytes) -> Payload:
    named = {name.replace("_", "-"): value for name, value in metadata.items()}
    known: Mapping[str, bytes] = payload.metadata
    return Payload(metadata={**known, **named}, data=payload.data if data is None else data)


async def test_an_encrypted_payload_shows_its_key_and_its_workflow_only() -> None:
    payload = await sealed(codec())
    assert payload.metadata == {
        "encoding": b"binary/encrypted",
        "encryption-key-id": b"old",
        "encryption-workflow-id": b"default/a/1",
    }
    assert b"total" not in payload.SerializeToString()
    assert b"json" not in payload.SerializeToString()
    assert await opened(codec(), payload) == PLAIN


async def test_equal_payloads_differ_once_they_are_encrypted() -> None:
    assert len({(await sealed(codec())).data for _ in range(100)}) == 100


async def test_the_first_key_encrypts_and_all_decrypt() -> None:
    rotated = codec(new=NEW, old=OLD)
    assert (await sealed(rotated)).metadata["encryption-key-id"] == b"new"
    assert await opened(rotated, await sealed(codec(old=OLD))) == PLAIN
    assert await opened(codec(old=OLD, new=NEW), await sealed(rotated)) == PLAIN


async def test_payloads_from_before_encryption_are_read() -> None:
    assert await opened(codec(), PLAIN) == PLAIN


async def test_without_keys_nothing_is_encrypted_and_an_encrypted_payload_says_what_to_set() -> None:
    without = PayloadEncryption(NO_KEYS)
    assert without.with_context(WorkflowSerializationContext("default", "default/a/1")) is without
    assert await sealed(without) == PLAIN
    with pytest.raises(PayloadKeyError, match="with the key 'old': DOCRAIL_PAYLOAD_KEYS here has none"):
        await opened(without, await sealed(codec()))


async def test_a_missing_key_and_another_key_of_the_same_id_are_named() -> None:
    payload = await sealed(codec())
    with pytest.raises(PayloadKeyError, match="with the key 'old': DOCRAIL_PAYLOAD_KEYS here has new"):
        await opened(codec(new=NEW), payload)
    with pytest.raises(PayloadKeyError, match="the key 'old': DOCRAIL_PAYLOAD_KEYS has another key of that id"):
        await opened(codec(old=NEW), payload)


@pytest.mark.parametrize("place", [0, 12, -1])
async def test_a_changed_payload_is_refused(place: int) -> None:
    payload = await sealed(codec())
    data = bytearray(payload.data)
    data[place] ^= 1
    with pytest.raises(PayloadKeyError, match="or the payload was changed"):
        await opened(codec(), changed(payload, bytes(data)))


@pytest.mark.parametrize("data", [b"", b"short", b"x" * 27])
async def test_a_cut_payload_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadKeyError, match="or the payload was changed"):
        await opened(codec(), changed(await sealed(codec()), data))


async def test_a_payload_of_another_workflow_is_refused_even_under_a_false_name() -> None:
    moved = await sealed(codec("default/a/1"))
    with pytest.raises(PayloadKeyError, match="of the workflow 'default/a/1' is in 'default/a/2': it was moved"):
        await opened(codec("default/a/2"), moved)
    with pytest.raises(PayloadKeyError, match="or the payload was changed"):
        await opened(codec("default/a/2"), changed(moved, encryption_workflow_id=b"default/a/2"))


async def test_an_activitys_payloads_belong_to_its_workflow() -> None:
    context = ActivitySerializationContext("default", "1", "echo", "docrail", "default/a/1", "Run", is_local=False)
    assert await opened(codec().with_context(context), await sealed(codec())) == PLAIN


async def test_a_schedules_payloads_are_read_by_each_of_its_workflows() -> None:
    scheduled = await sealed(codec("docrail-sla.docrail"))
    assert await opened(codec("docrail-sla.docrail-2026-11-23T15:00:00Z"), scheduled) == PLAIN
    result = await sealed(codec("docrail-sla.docrail-2026-11-23T14:55:00Z"))
    assert await opened(codec("docrail-sla.docrail-2026-11-23T15:00:00Z"), result) == PLAIN, "Temporal hands it on"
    with pytest.raises(PayloadKeyError, match="it was moved"):
        await opened(codec("docrail-sla.other-2026-11-23T15:00:00Z"), result)
    with pytest.raises(PayloadKeyError, match="it was moved"):
        await opened(codec("default/a/1-b"), await sealed(codec("default/a/1")))


async def test_a_payload_names_its_owner_only_if_it_is_encrypted() -> None:
    assert (owner_of(await sealed(codec())), owner_of(PLAIN)) == ("default/a/1", None)


async def test_every_payload_in_an_event_is_decrypted() -> None:
    payload, event = await sealed(codec()), HistoryEvent()
    started = event.workflow_execution_started_event_attributes
    started.input.payloads.append(payload)
    started.memo.fields["name"].CopyFrom(payload)
    started.header.fields["name"].CopyFrom(payload)
    event.user_metadata.summary.CopyFrom(payload)
    started.continued_failure.cause.encoded_attributes.CopyFrom(payload)
    await decrypt(event, data_converter(PayloadKeys({"old": OLD})))
    assert event.SerializeToString().count(b"the total is 12.50") == 5


def test_workflows_know_the_errors_type() -> None:
    assert PayloadKeyError.__name__ == PAYLOAD_KEY_MISSING


def text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def test_keys_are_read_in_their_order_and_never_shown() -> None:
    keys = parse_payload_keys(f"2026-11:{text(NEW)}, old:{text(OLD)},")
    assert dict(keys.keys) == {"2026-11": NEW, "old": OLD}
    assert [*keys.keys] == ["2026-11", "old"]
    assert text(NEW) not in repr(Connection(keys=keys))
    assert repr(NEW)[2:-1] not in repr(Connection(keys=keys))
    assert parse_payload_keys("") == NO_KEYS


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("a:{key},{key}", "entry 2 has no id"),
        ("a b:{key}", "entry 1 has no id"),
        ("a:{key},a:{key}", "entry 2 has the id 'a' of an earlier one"),
        ("a:hush-hush!", "the key of entry 1 is not base64"),
        ("a:aHVzaC1odXNo", "the key of entry 1 has 9 bytes: expected ID:KEY, the key 32 bytes in base64"),
    ],
)
def test_a_wrong_key_is_refused_by_its_place_and_not_repeated(written: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as refused:
        parse_payload_keys(written.format(key=text(OLD)))
    assert text(OLD) not in str(refused.value)
    assert "hush" not in str(refused.value)
