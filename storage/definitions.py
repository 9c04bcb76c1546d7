# ruff: noqa: S608  # the only thing formatted into a statement is a constant list of columns
"""The definitions table: every published version, never changed."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from dag.values import Json, digest
from storage.db import Database, StorageError

_LINE = "tenant_id, definition_id, version, digest, created_at"
_COLUMNS = f"{_LINE}, body, source"

LOAD_BY_DIGEST = f"SELECT {_COLUMNS} FROM definitions WHERE tenant_id = $1 AND definition_id = $2 AND digest = $3"
INSERT_VERSION = f"""
INSERT INTO definitions (tenant_id, definition_id, version, digest, body, source)
VALUES ($1, $2,
        (SELECT coalesce(max(version), 0) + 1 FROM definitions WHERE tenant_id = $1 AND definition_id = $2),
        $3, $4, $5)
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

PUBLISH_ATTEMPTS = 20
"""Each lost attempt means that another version of this one definition was published in the same moment."""


class PublishConflict(StorageError):  # noqa: N818  # a statement about the definition
    """Too many versions of one definition are being published at once. Try again."""

    def __init__(self, definition_id: str) -> None:
        super().__init__(f"definition {definition_id!r} is being published by too many callers at once")
        self.definition_id = definition_id


class DamagedDefinition(StorageError):  # noqa: N818  # a statement about the definition
    """A stored body is not what was published: somebody or something changed the row. Nothing may run it."""

    def __init__(self, definition_id: str, version: int, expected: str, found: str) -> None:
        super().__init__(
            f"version {version} of the definition {definition_id!r} is not what was published: its body has the digest "
            f"{found[:12]}…, expected {expected[:12]}…; restore the row from a backup"
        )
        self.definition_id = definition_id
        self.version = version


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A published version's identity."""

    tenant_id: str
    definition_id: str
    version: int
    digest: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One published version. `body` is the normalised definition, `source` the author's own text.

    Raises DamagedDefinition instead of holding a body that is not what was published.
    """

    tenant_id: str
    definition_id: str
    version: int
    digest: str
    created_at: dt.datetime
    body: dict[str, Json]
    source: str

    def __post_init__(self) -> None:
        found = digest(self.body)
        if found != self.digest:
            raise DamagedDefinition(self.definition_id, self.version, self.digest, found)


async def publish(db: Database, tenant_id: str, body: dict[str, Json], digest: str, source: str) -> StoredDefinition:
    """Store the definition `body` as its next version; a digest that was published before keeps its version.

    Raises: PublishConflict, DamagedDefinition (also if `digest` is not that of `body`).
    """
    definition_id = body["id"]
    for _ in range(PUBLISH_ATTEMPTS):
        row = await db.fetchrow(LOAD_BY_DIGEST, tenant_id, definition_id, digest) or await db.fetchrow(
            INSERT_VERSION, tenant_id, definition_id, digest, body, source
        )
        if row:
            return StoredDefinition(**row)
    raise PublishConflict(definition_id)


async def load_definition(
    db: Database, tenant_id: str, definition_id: str, version: int | None = None
) -> StoredDefinition | None:
    """Return that version, by default the newest; None if the tenant has none. Raises: DamagedDefinition."""
    row = await db.fetchrow(LOAD_DEFINITION, tenant_id, definition_id, version)
    return StoredDefinition(**row) if row else None


async def load_unpublished(
    db: Database, tenant_id: str, wanted: Collection[tuple[str, int | None]]
) -> set[tuple[str, int | None]]:
    """Return those of `wanted`, ids with a version or None for any, that the tenant has not published."""
    ids, versions = [definition_id for definition_id, _ in wanted], [version for _, version in wanted]
    rows = await db.fetch(LOAD_UNPUBLISHED, tenant_id, ids, versions)
    return {(row["definition_id"], row["version"]) for row in rows}


async def list_definitions(
    db: Database, tenant_id: str, *, limit: int = 100, after: str | None = None
) -> list[DefinitionLine]:
    """Return the newest version of each of the tenant's definitions, by id; `after` is the last id of the last page."""
    return [DefinitionLine(**row) for row in await db.fetch(LIST_DEFINITIONS, tenant_id, limit, after)]


async def list_versions(
    db: Database, tenant_id: str, definition_id: str, *, limit: int = 100, before: int | None = None
) -> list[DefinitionLine]:
    """Return the definition's versions, newest first; `before` is the last version of the page before."""
    return [DefinitionLine(**row) for row in await db.fetch(LIST_VERSIONS, tenant_id, definition_id, limit, before)]
