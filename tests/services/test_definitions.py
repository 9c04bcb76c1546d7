"""Published definitions: numbered, immutable, exact, seen by their tenant alone."""

import asyncio
import json

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import Json, digest
from docrail.services.definitions.models import DamagedDefinition, StoredDefinition
from docrail.services.definitions.repository import (
    NewerVersion,
    list_definitions,
    list_versions,
    load_definition,
    load_unpublished,
    publish,
)
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, new_document_id


async def publish_text(
    db: Database,
    text: Json,
    *,
    tenant_id: str = TENANT,
    definition_id: str = "invoice",
    based_on: int | None = None,
) -> StoredDefinition:
    body = {"id": definition_id, "title": text}
    return await publish(db, tenant_id, body, digest(body), f"title: {text}", by="ann", reason="", based_on=based_on)


async def test_versions_count_from_one_and_the_newest_is_loaded(db: PoolConnectionProxy) -> None:
    published = [(await publish_text(db, text)).version for text in ("a", "b", "c")]
    newest = await load_definition(db, TENANT, "invoice")
    first = await load_definition(db, TENANT, "invoice", 1)
    assert published == [1, 2, 3]
    assert newest
    assert (newest.version, newest.source) == (3, "title: c")
    assert first
    assert first.body == {"id": "invoice", "title": "a"}


async def test_unpublished_definitions_are_listed_by_id_and_version(db: PoolConnectionProxy) -> None:
    await publish_text(db, "a")
    await publish_text(db, "a", tenant_id=OTHER_TENANT, definition_id="theirs")
    wanted = {("invoice", None), ("invoice", 1), ("invoice", 2), ("invoice", 2**62), ("theirs", None), ("none", 1)}
    found = await load_unpublished(db, TENANT, wanted)
    assert found == wanted - {("invoice", None), ("invoice", 1)}
    assert await load_unpublished(db, OTHER_TENANT, {("theirs", None), ("theirs", 1)}) == set()


async def test_the_same_content_keeps_its_version(db: PoolConnectionProxy) -> None:
    first = await publish_text(db, "a")
    await publish_text(db, "b")
    assert await publish_text(db, "a") == first


async def test_a_body_comes_back_with_the_digest_it_was_published_under(db: PoolConnectionProxy) -> None:
    body = {"id": "exact", "z": 1e22, "a": -0.0, "nul": "\x00", "n": [0.1, 10**20, None], "order": {"b": 1, "a": 2}}
    await publish(db, TENANT, body, digest(body), "", by="ann", reason="")
    loaded = await load_definition(db, TENANT, "exact")
    assert loaded
    assert digest(loaded.body) == loaded.digest == digest(body)
    assert json.dumps(loaded.body) == json.dumps(body)


async def test_publishing_at_once_gives_each_content_one_version(pool: asyncpg.Pool) -> None:
    definition_id = f"at_once_{new_document_id()}"
    texts = [str(number % 4) for number in range(12)]
    published = await asyncio.gather(
        *(publish_text(pool, text, tenant_id=COMMITTING, definition_id=definition_id) for text in texts)
    )
    by_text = {(text, stored.version) for text, stored in zip(texts, published, strict=True)}
    assert len(by_text) == 4
    assert {version for _, version in by_text} == {1, 2, 3, 4}


async def test_definitions_are_seen_and_numbered_by_their_tenant_alone(db: PoolConnectionProxy) -> None:
    await publish_text(db, "a")
    await publish_text(db, "b")
    assert await load_definition(db, OTHER_TENANT, "invoice") is None
    assert await list_definitions(db, OTHER_TENANT) == []
    assert (await publish_text(db, "b", tenant_id=OTHER_TENANT)).version == 1


async def test_an_unknown_version_is_none(db: PoolConnectionProxy) -> None:
    await publish_text(db, "a")
    assert await load_definition(db, TENANT, "invoice", 2) is None


async def test_the_newest_of_each_definition_is_listed_in_pages(db: PoolConnectionProxy) -> None:
    for definition_id, text in (("beta", "1"), ("alpha", "1"), ("beta", "2"), ("gamma", "1")):
        await publish_text(db, text, definition_id=definition_id)
    first = await list_definitions(db, TENANT, limit=2)
    rest = await list_definitions(db, TENANT, after=first[-1].definition_id)
    assert [(d.definition_id, d.version) for d in (*first, *rest)] == [("alpha", 1), ("beta", 2), ("gamma", 1)]


async def test_versions_are_listed_newest_first_in_pages(db: PoolConnectionProxy) -> None:
    for text in ("a", "b", "c"):
        await publish_text(db, text)
    first = await list_versions(db, TENANT, "invoice", limit=2)
    rest = await list_versions(db, TENANT, "invoice", before=first[-1].version)
    assert [line.version for line in (*first, *rest)] == [3, 2, 1]
    assert await list_versions(db, OTHER_TENANT, "invoice") == []


async def test_a_body_that_was_changed_is_not_given_out(db: PoolConnectionProxy) -> None:
    stored = await publish_text(db, "a")
    await db.execute("UPDATE definitions SET body = $1 WHERE definition_id = 'invoice'", {**stored.body, "title": "b"})
    with pytest.raises(DamagedDefinition, match="version 1 of the definition 'invoice' is not what was published"):
        await load_definition(db, TENANT, "invoice")
    with pytest.raises(DamagedDefinition):
        await publish_text(db, "a")


async def test_a_digest_of_something_else_is_not_believed(db: PoolConnectionProxy) -> None:
    with pytest.raises(DamagedDefinition):
        await publish(db, TENANT, {"id": "invoice"}, digest({"id": "other"}), "", by="ann", reason="")


async def test_a_version_that_its_author_has_not_seen_is_not_passed_over(db: PoolConnectionProxy) -> None:
    first = await publish_text(db, "a", based_on=0)
    second = await publish_text(db, "b", based_on=1)
    with pytest.raises(NewerVersion) as refused:
        await publish_text(db, "c", based_on=1)
    assert (refused.value.based_on, refused.value.newest) == (1, 2)
    assert await publish_text(db, "b", based_on=1) == second  # sent again
    with pytest.raises(NewerVersion):
        await publish_text(db, "a", based_on=1)
    assert await publish_text(db, "a", based_on=2) == first


async def test_of_authors_of_the_same_version_one_publishes(pool: asyncpg.Pool) -> None:
    definition_id = f"invoice_{new_document_id()}"
    await publish_text(pool, "first", tenant_id=COMMITTING, definition_id=definition_id)
    together = (
        publish_text(pool, text, tenant_id=COMMITTING, definition_id=definition_id, based_on=1)
        for text in ("a", "b", "c", "d")
    )
    outcomes = await asyncio.gather(*together, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NewerVersion"] * 3 + ["StoredDefinition"]
