# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""The definitions table: every published version, never changed."""

import datetime as dt
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database, StorageError

_COLUMNS = "tenant_id, definition_id, version, digest, body, source, created_at"

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
SELECT DISTINCT ON (definition_id) {_COLUMNS} FROM definitions
 WHERE tenant_id = $1 AND ($3::text IS NULL OR definition_id > $3)
 ORDER BY definition_id, version DESC
 LIMIT $2"""

PUBLISH_ATTEMPTS = 20
"""Each lost attempt means that another version of this one definition was published in the same moment."""


class PublishConflict(StorageError):  # noqa: N818  # a statement about the definition
    """Too many versions of one definition are being published at once. Try again."""

    def __init__(self, definition_id: str) -> None:
        super().__init__(f"definition {definition_id!r} is being published by too many callers at once")
        self.definition_id = definition_id


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One published version. `body` is the normalised definition, `source` the author's own text."""

    tenant_id: str
    definition_id: str
    version: int
    digest: str
    body: dict[str, Json]
    source: str
    created_at: dt.datetime


async def publish(db: Database, tenant_id: str, body: dict[str, Json], digest: str, source: str) -> StoredDefinition:
    """Store the definition `body` as its next version; a digest that was published before keeps its version.

    Raises: PublishConflict.
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
    """Return that version, by default the newest; None if the tenant has none."""
    row = await db.fetchrow(LOAD_DEFINITION, tenant_id, definition_id, version)
    return StoredDefinition(**row) if row else None


async def list_definitions(
    db: Database, tenant_id: str, *, limit: int = 100, after: str | None = None
) -> list[StoredDefinition]:
    """Return the newest version of each of the tenant's definitions, by id; `after` is the last id of the last page."""
    return [StoredDefinition(**row) for row in await db.fetch(LIST_DEFINITIONS, tenant_id, limit, after)]
