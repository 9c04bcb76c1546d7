# ruff: noqa: S608  # the only thing formatted into a statement is a constant list of columns
"""Store definitions, their aliases and routing rules.

Published versions never change. Each alias has a table of its moves: who moved it, when and why. Every list of routing
rules is kept; the newest is in force.
"""

from collections.abc import Collection, Iterable, Sequence

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored, StorageError
from docrail.dag.language.version_refs import STABLE, Move, MoveKind, Target
from docrail.dag.values.json_values import Json
from docrail.services.definitions.models import (
    DefinitionVersion,
    Dependant,
    Heading,
    RecordedMove,
    StoredDefinition,
    StoredRules,
)

_LINE = "tenant_id, definition_id, version, digest, created_at, published_by, reason"

_COLUMNS = f"{_LINE}, body, source"

LOAD_BY_DIGEST = f"SELECT {_COLUMNS} FROM definitions WHERE tenant_id = $1 AND definition_id = $2 AND digest = $3"

INSERT_VERSION = f"""
INSERT INTO definitions (tenant_id, definition_id, version, digest, body, source, published_by, reason)
VALUES ($1, $2,
        coalesce($8::int, (SELECT max(version) FROM definitions WHERE tenant_id = $1 AND definition_id = $2), 0) + 1,
        $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""

LOAD_DEFINITION = f"""
SELECT {_COLUMNS} FROM definitions
 WHERE tenant_id = $1 AND definition_id = $2 AND ($3::int IS NULL OR version = $3)
 ORDER BY version DESC
 LIMIT 1"""

LIST_DEFINITIONS = f"""
SELECT DISTINCT ON (definition_id) {_LINE} FROM definitions
 WHERE tenant_id = $1 AND ($3::text IS NULL OR definition_id > $3)
 ORDER BY definition_id, version DESC
 LIMIT $2"""

LIST_VERSIONS = f"""
SELECT {_LINE} FROM definitions
 WHERE tenant_id = $1 AND definition_id = $2 AND ($4::int IS NULL OR version < $4)
 ORDER BY version DESC
 LIMIT $3"""

LOAD_UNPUBLISHED = """
SELECT wanted.definition_id, wanted.version FROM unnest($2::text[], $3::bigint[]) AS wanted (definition_id, version)
 WHERE NOT EXISTS (
       SELECT FROM definitions AS published
        WHERE published.tenant_id = $1 AND published.definition_id = wanted.definition_id
          AND (wanted.version IS NULL OR published.version = wanted.version))"""

LOAD_HEADINGS = """
SELECT named.definition_id, used.body ->> 'title' AS title, latest.moved_by, latest.moved_at
  FROM definition_aliases AS named
  JOIN definitions AS used USING (tenant_id, definition_id, version)
  LEFT JOIN LATERAL (
       SELECT moved_by, moved_at FROM alias_moves AS move
        WHERE move.tenant_id = named.tenant_id AND move.definition_id = named.definition_id
        ORDER BY move_id DESC
        LIMIT 1) AS latest ON true
 WHERE named.tenant_id = $1 AND named.alias = $2 AND named.definition_id = ANY($3)"""

LIST_DEPENDANTS = """
SELECT outer_one.definition_id, outer_one.version, named.aliases, step ->> 'id' AS step_id,
       (step -> 'workflow' ->> 'version')::int AS nested_version
  FROM (SELECT definition_id, version, array_agg(alias ORDER BY alias) AS aliases
          FROM definition_aliases
         WHERE tenant_id = $1
         GROUP BY definition_id, version) AS named
  JOIN definitions AS outer_one USING (definition_id, version)
 CROSS JOIN LATERAL json_array_elements(outer_one.body -> 'steps') WITH ORDINALITY AS steps (step, place)
 WHERE outer_one.tenant_id = $1 AND step -> 'workflow' ->> 'id' = $2
 ORDER BY outer_one.definition_id, outer_one.version DESC, place
 LIMIT $3"""

PUBLISH_ATTEMPTS = 20
"""Each lost attempt means that another version of this definition was published at the same moment."""


class PublishConflict(StorageError):  # noqa: N818  # a statement about the definition
    """Too many versions of one definition are being published at once. Try again."""

    def __init__(self, definition_id: str) -> None:
        super().__init__(f"definition {definition_id!r} is being published by too many callers at once")
        self.definition_id = definition_id


class NewerVersion(StorageError):  # noqa: N818  # a statement about the definition
    """Someone has published a newer version than the author has seen."""

    def __init__(self, definition_id: str, based_on: int, newest: int) -> None:
        super().__init__(f"the newest version of the definition {definition_id!r} is {newest}, not {based_on}")
        self.definition_id = definition_id
        self.based_on = based_on
        self.newest = newest


async def publish(
    db: Database,
    tenant_id: str,
    body: dict[str, Json],
    digest: str,
    source: str,
    *,
    by: str,
    reason: str,
    based_on: int | None = None,
) -> StoredDefinition:
    """Store the definition `body` as its next version; a digest that was published before keeps its version.

    With `based_on`, that must be the newest version (0: there is none), or the newest one has this very content.
    Raises: NewerVersion, PublishConflict, DamagedDefinition (also if `digest` does not match `body`).
    """
    definition_id = body["id"]
    for _ in range(PUBLISH_ATTEMPTS):
        if based_on is not None:
            await _check_newest(db, tenant_id, definition_id, digest, based_on)
        row = await db.fetchrow(LOAD_BY_DIGEST, tenant_id, definition_id, digest) or await db.fetchrow(
            INSERT_VERSION, tenant_id, definition_id, digest, body, source, by, reason, based_on
        )
        if row:
            return StoredDefinition(**row)
    raise PublishConflict(definition_id)


async def _check_newest(db: Database, tenant_id: str, definition_id: str, digest: str, based_on: int) -> None:
    found = await list_versions(db, tenant_id, definition_id, limit=1)
    newest = found[0].version if found else 0
    if newest != based_on and not (found and found[0].digest == digest):
        raise NewerVersion(definition_id, based_on, newest)


async def load_definition(
    db: Database, tenant_id: str, definition_id: str, version: int | None = None
) -> StoredDefinition | None:
    """Return that version, by default the newest; None if the tenant has none. Raises: DamagedDefinition."""
    row = await db.fetchrow(LOAD_DEFINITION, tenant_id, definition_id, version)
    return StoredDefinition(**row) if row else None


async def load_unpublished(
    db: Database, tenant_id: str, wanted: Collection[tuple[str, int | None]]
) -> set[tuple[str, int | None]]:
    """Return the entries of `wanted`, ids with a version or None for any, that the tenant has not published."""
    ids, versions = [definition_id for definition_id, _ in wanted], [version for _, version in wanted]
    rows = await db.fetch(LOAD_UNPUBLISHED, tenant_id, ids, versions)
    return {(row["definition_id"], row["version"]) for row in rows}


async def list_definitions(
    db: Database, tenant_id: str, *, limit: int = 100, after: str | None = None
) -> list[DefinitionVersion]:
    """Return the newest version of each of the tenant's definitions, by id.

    `after` is the last id of the previous page.
    """
    return [DefinitionVersion(**row) for row in await db.fetch(LIST_DEFINITIONS, tenant_id, limit, after)]


async def list_versions(
    db: Database, tenant_id: str, definition_id: str, *, limit: int = 100, before: int | None = None
) -> list[DefinitionVersion]:
    """Return the definition's versions, newest first; `before` is the last version of the previous page."""
    return [DefinitionVersion(**row) for row in await db.fetch(LIST_VERSIONS, tenant_id, definition_id, limit, before)]


async def load_headings(db: Database, tenant_id: str, definition_ids: Sequence[str]) -> dict[str, Heading]:
    """Return the title of the version that new runs get and the last move of an alias, by definition."""
    rows = await db.fetch(LOAD_HEADINGS, tenant_id, STABLE, list(definition_ids))
    return {row["definition_id"]: Heading(row["title"] or "", row["moved_by"], row["moved_at"]) for row in rows}


async def list_dependants(db: Database, tenant_id: str, definition_id: str, *, limit: int) -> list[Dependant]:
    """Return the steps that run the definition, in the versions of other definitions that an alias names."""
    rows = await db.fetch(LIST_DEPENDANTS, tenant_id, definition_id, limit)
    return [Dependant(**row) for row in rows]


LOCK_DEFINITION = """
SELECT true FROM definitions WHERE tenant_id = $1 AND definition_id = $2 AND version = 1 FOR NO KEY UPDATE"""

LOAD_ALIASES = """
SELECT definition_id, alias, version, percent FROM definition_aliases
 WHERE tenant_id = $1 AND definition_id = ANY($2)
 ORDER BY definition_id, alias"""

SET_ALIAS = """
INSERT INTO definition_aliases (tenant_id, definition_id, alias, version, percent) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, definition_id, alias) DO UPDATE SET version = excluded.version, percent = excluded.percent"""

REMOVE_ALIAS = "DELETE FROM definition_aliases WHERE tenant_id = $1 AND definition_id = $2 AND alias = $3"

INSERT_MOVE = """
INSERT INTO alias_moves (tenant_id, definition_id, move_id, alias, kind, from_version, from_percent, to_version,
                         to_percent, moved_by, reason)
SELECT $1, $2, coalesce(max(move_id), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10
  FROM alias_moves WHERE tenant_id = $1 AND definition_id = $2"""

LIST_MOVES = """
SELECT move_id, alias, kind, from_version, from_percent, to_version, to_percent, moved_by, moved_at, reason
  FROM alias_moves
 WHERE tenant_id = $1 AND definition_id = $2 AND ($4::bigint IS NULL OR move_id < $4)
 ORDER BY move_id DESC
 LIMIT $3"""

LOAD_STABLE_MOVES = """
SELECT kind, to_version, moved_by FROM alias_moves
 WHERE tenant_id = $1 AND definition_id = $2 AND alias = $3
 ORDER BY move_id"""


async def lock_definition(db: Database, tenant_id: str, definition_id: str) -> bool:
    """Lock the definition's aliases until the transaction ends; False if there is no such definition."""
    return await db.fetchval(LOCK_DEFINITION, tenant_id, definition_id) is True


async def load_aliases(db: Database, tenant_id: str, definition_ids: Sequence[str]) -> dict[str, dict[str, Target]]:
    """Return the aliases of each of the definitions, by alias; a definition without any has an empty dict."""
    found: dict[str, dict[str, Target]] = {definition_id: {} for definition_id in definition_ids}
    for row in await db.fetch(LOAD_ALIASES, tenant_id, list(found)):
        found[row["definition_id"]][row["alias"]] = Target(row["version"], row["percent"])
    return found


async def record_moves(
    db: Database, tenant_id: str, definition_id: str, moves: Iterable[Move], kind: MoveKind, *, by: str, reason: str
) -> None:
    """Move the aliases and record the moves. Needs the definition's lock. Raises: NotStored (no such version)."""
    for move in moves:
        await _apply(db, tenant_id, definition_id, move)
        before, after = _columns(move.before), _columns(move.after)
        # A move of `stable` removes the canary; the move's kind is recorded with `stable`.
        named = MoveKind.REMOVE if move.after is None and kind is not MoveKind.ROLLBACK else kind
        await db.execute(INSERT_MOVE, tenant_id, definition_id, move.alias, named, *before, *after, by, reason)


async def list_moves(
    db: Database, tenant_id: str, definition_id: str, *, limit: int = 100, before: int | None = None
) -> list[RecordedMove]:
    """Return the moves of the definition's aliases, newest first; `before` is the last id of the previous page."""
    return [_recorded(row) for row in await db.fetch(LIST_MOVES, tenant_id, definition_id, limit, before)]


async def load_stable_history(db: Database, tenant_id: str, definition_id: str) -> list[tuple[MoveKind, int]]:
    """Return the moves of `stable` as kind and version, oldest first."""
    rows = await db.fetch(LOAD_STABLE_MOVES, tenant_id, definition_id, STABLE)
    return [(MoveKind(row["kind"]), row["to_version"]) for row in rows]


async def load_last_mover(db: Database, tenant_id: str, definition_id: str) -> str | None:
    """Return who last moved `stable`; None if it never moved."""
    rows = await db.fetch(LOAD_STABLE_MOVES, tenant_id, definition_id, STABLE)
    return rows[-1]["moved_by"] if rows else None


async def _apply(db: Database, tenant_id: str, definition_id: str, move: Move) -> None:
    if move.after is None:
        await db.execute(REMOVE_ALIAS, tenant_id, definition_id, move.alias)
        return
    try:
        await db.execute(SET_ALIAS, tenant_id, definition_id, move.alias, *_columns(move.after))
    except asyncpg.ForeignKeyViolationError:
        raise NotStored("definition version", f"{definition_id} {move.after.version}", tenant_id) from None


def _columns(target: Target | None) -> tuple[int | None, int | None]:
    return (None, None) if target is None else (target.version, target.percent)


def _target(version: int | None, percent: int | None) -> Target | None:
    return None if version is None else Target(version, percent)


def _recorded(row: asyncpg.Record) -> RecordedMove:
    before = _target(row["from_version"], row["from_percent"])
    after = _target(row["to_version"], row["to_percent"])
    made = (row["move_id"], MoveKind(row["kind"]), row["moved_by"], row["moved_at"], row["reason"])
    return RecordedMove(row["alias"], before, after, *made)


_ROUTING_COLUMNS = "revision, rules, source, set_by, set_at"

LOAD_RULES = f"SELECT {_ROUTING_COLUMNS} FROM routing_rules WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1"

INSERT_RULES = f"""
INSERT INTO routing_rules (tenant_id, revision, rules, source, set_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING {_ROUTING_COLUMNS}"""


async def load_rules(db: Database, tenant_id: str) -> StoredRules | None:
    """Return the tenant's rules in force, None if it never had any."""
    row = await db.fetchrow(LOAD_RULES, tenant_id)
    return StoredRules(**row) if row else None


async def insert_rules(
    db: Database, tenant_id: str, revision: int, rules: list[dict[str, Json]], source: str, *, by: str
) -> StoredRules | None:
    """Put a list of rules into force under `revision`; None if that revision is already taken."""
    row = await db.fetchrow(INSERT_RULES, tenant_id, revision, rules, source, by)
    return StoredRules(**row) if row else None
