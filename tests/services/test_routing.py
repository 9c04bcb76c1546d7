"""Routing rules: every list is kept, the newest is in force, seen by its tenant alone."""

from asyncpg.pool import PoolConnectionProxy

from docrail.services.definitions.repository import insert_rules, load_rules
from tests.postgres import OTHER_TENANT, TENANT

RULES = [{"when": "size > 5", "definition": "large"}]


async def test_the_newest_list_is_in_force(db: PoolConnectionProxy) -> None:
    assert await load_rules(db, TENANT) is None
    await insert_rules(db, TENANT, 1, [], "", by="ada")
    placed = await insert_rules(db, TENANT, 2, RULES, "rules: …", by="bob")
    assert placed == await load_rules(db, TENANT)
    assert placed
    assert (placed.revision, placed.rules, placed.source, placed.set_by) == (2, RULES, "rules: …", "bob")


async def test_a_revision_is_given_once(db: PoolConnectionProxy) -> None:
    await insert_rules(db, TENANT, 1, RULES, "", by="ada")
    assert await insert_rules(db, TENANT, 1, [], "", by="bob") is None
    stored = await load_rules(db, TENANT)
    assert stored
    assert stored.set_by == "ada"


async def test_rules_are_seen_and_counted_by_their_tenant_alone(db: PoolConnectionProxy) -> None:
    await insert_rules(db, TENANT, 1, RULES, "", by="ada")
    assert await load_rules(db, OTHER_TENANT) is None
    assert await insert_rules(db, OTHER_TENANT, 1, [], "", by="ada")
