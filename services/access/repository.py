"""Store API keys and browser sessions: hashes of their secrets, never the secrets."""

import datetime as dt
from dataclasses import dataclass

import asyncpg

from docrail.adapters.postgres.pool import Database, delete_all
from docrail.services.access.models import Key, Method, Principal, Scope, Session, TenantKeys

INSERT_KEY = """
INSERT INTO api_keys (key_id, tenant_id, name, scopes, secret_sha256, created_by, known_to, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
RETURNING *"""

LOCK_FIRST = "SELECT pg_advisory_xact_lock(7234302, 1)"

TENANTS = "SELECT tenant_id FROM api_keys UNION SELECT tenant_id FROM people ORDER BY tenant_id"

TENANTS_KEYS = """
SELECT tenant_id AS tenant, sum(valid)::int AS keys, max(used) AS last_used_at
  FROM (SELECT tenant_id, max(last_used_at) AS used,
               count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())) AS valid
          FROM api_keys GROUP BY tenant_id
        UNION ALL SELECT tenant_id, NULL, 0 FROM people GROUP BY tenant_id
        UNION ALL SELECT $1, NULL, 0) AS found
 GROUP BY tenant_id
 ORDER BY tenant_id"""

HAS_KEYS = "SELECT EXISTS (SELECT FROM api_keys)"

LOAD_SECRETS = """
SELECT key_id, tenant_id, name, scopes, known_to, secret_sha256, previous_sha256, expires_at, revoked_at,
       previous_until > now() AS takes_previous,
       revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS is_valid,
       last_used_at IS NULL OR last_used_at < now() - interval '1 minute' AS is_use_due
  FROM api_keys WHERE key_id = $1"""

RECORD_USE = """
UPDATE api_keys SET last_used_at = now()
 WHERE key_id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')"""

LIST_KEYS = """
SELECT * FROM api_keys
 WHERE tenant_id = $1
   AND ($2::text IS NULL
        OR (created_at, key_id) < (SELECT last.created_at, last.key_id FROM api_keys last
                                    WHERE last.key_id = $2 AND last.tenant_id = $1))
 ORDER BY created_at DESC, key_id DESC
 LIMIT $3"""

LOAD_KEY = "SELECT * FROM api_keys WHERE key_id = $1 AND tenant_id = $2 FOR UPDATE"

ROTATE_KEY = """
UPDATE api_keys
   SET previous_sha256 = secret_sha256, previous_until = now() + $3::interval, secret_sha256 = $2, rotated_at = now(),
       known_to = $4
 WHERE key_id = $1
RETURNING *"""

REVOKE_KEY = """
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, $2) WHERE key_id = $1
RETURNING *"""

INSERT_SESSION = """
INSERT INTO sessions (session_id, tenant_id, name, scopes, key_id, key_sha256, issuer, secret_sha256, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval)"""

# A session of a key may do what the key may now, and ends with the key, or with the secret that it was opened with.
LOAD_SESSION = """
SELECT session_id, s.tenant_id, s.name, coalesce(k.scopes, s.scopes) AS scopes, s.key_id, k.known_to,
       s.rotated_at < now() - interval '1 hour' AND s.secret_sha256 = $1 AS is_rotation_due,
       last_seen_at < now() - interval '1 minute' AS is_use_due
  FROM sessions s LEFT JOIN api_keys k ON k.key_id = s.key_id
 WHERE (s.secret_sha256 = $1 OR (s.previous_sha256 = $1 AND s.rotated_at > now() - interval '1 minute'))
   AND s.revoked_at IS NULL AND s.expires_at > now()
   AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
   AND (s.key_id IS NULL OR k.secret_sha256 = s.key_sha256
        OR (k.previous_sha256 = s.key_sha256 AND k.previous_until > now()))"""

RECORD_SEEN = """
UPDATE sessions SET last_seen_at = now() WHERE session_id = $1 AND last_seen_at < now() - interval '1 minute'"""

ROTATE_SESSION = """
UPDATE sessions SET previous_sha256 = secret_sha256, secret_sha256 = $2, rotated_at = now(), last_seen_at = now()
 WHERE session_id = $1 AND secret_sha256 = $3"""

LOCK_SESSION = "SELECT * FROM sessions WHERE session_id = $1 AND tenant_id = $2 FOR UPDATE"

REVOKE_SESSION = """
UPDATE sessions SET revoked_at = coalesce(revoked_at, now()) WHERE session_id = $1 AND tenant_id = $2
RETURNING *"""

END_SESSION = """
UPDATE sessions SET revoked_at = now() WHERE (secret_sha256 = $1 OR previous_sha256 = $1) AND revoked_at IS NULL"""

LIST_SESSIONS = """
SELECT s.* FROM sessions s LEFT JOIN api_keys k ON k.key_id = s.key_id
 WHERE s.tenant_id = $1 AND s.revoked_at IS NULL AND s.expires_at > now()
   AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
   AND (s.key_id IS NULL OR k.secret_sha256 = s.key_sha256
        OR (k.previous_sha256 = s.key_sha256 AND k.previous_until > now()))
   AND ($2::text IS NULL
        OR (s.created_at, s.session_id) < (SELECT last.created_at, last.session_id FROM sessions last
                                            WHERE last.session_id = $2 AND last.tenant_id = $1))
 ORDER BY s.created_at DESC, s.session_id DESC
 LIMIT $3"""

KNOWN_TO = (
    "SELECT DISTINCT known_to FROM api_keys WHERE tenant_id = $1 AND name = $2 AND known_to IS NOT NULL ORDER BY 1"
)

LOAD_NAME = "SELECT name FROM people WHERE tenant_id = $1 AND issuer = $2 AND subject = $3"

INSERT_NAME = """
INSERT INTO people (tenant_id, issuer, subject, name) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"""

DELETE_OLD_SESSIONS = """
DELETE FROM sessions WHERE session_id IN (
       SELECT session_id FROM sessions WHERE expires_at < now() - interval '30 days' LIMIT $1)"""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """What is needed to check a key."""

    principal: Principal
    hashes: tuple[bytes, ...]
    """Of the accepted secrets."""
    is_valid: bool
    revoked_at: dt.datetime | None
    expires_at: dt.datetime | None
    is_use_due: bool
    """Whether the last recorded use is more than a minute ago."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A valid session as a request finds it."""

    session_id: str
    principal: Principal
    is_use_due: bool
    is_rotation_due: bool


async def insert_key(
    db: Database, key_id: str, who: Principal, secret: bytes, *, created_by: str, expires_at: dt.datetime | None
) -> Key:
    """Store the key of `who` by the hash of its secret."""
    values = (key_id, who.tenant_id, who.name, _texts(who.scopes), secret, created_by, who.known_to, expires_at)
    return _key(await db.fetchrow(INSERT_KEY, *values))


async def list_known_to(db: Database, tenant_id: str, name: str) -> list[str]:
    """Return everyone who got the secret of a key of `name` over HTTP."""
    return [row["known_to"] for row in await db.fetch(KNOWN_TO, tenant_id, name)]


async def lock_first(db: Database) -> None:
    """Let one process at a time create the first key, until the transaction of `db` ends."""
    await db.execute(LOCK_FIRST)


async def list_tenants(db: Database) -> list[str]:
    """Return the tenants that ever had a key, or a person of an identity provider, by name."""
    return [row["tenant_id"] for row in await db.fetch(TENANTS)]


async def load_tenants(db: Database, known: str) -> list[TenantKeys]:
    """Return the tenants with their keys, by name; `known` is always one of them."""
    return [TenantKeys(**row) for row in await db.fetch(TENANTS_KEYS, known)]


async def has_keys(db: Database) -> bool:
    """Return whether any tenant ever had a key."""
    return bool(await db.fetchval(HAS_KEYS))


async def load_secrets(db: Database, key_id: str) -> StoredKey | None:
    """Return the key with this id, whoever's it is; None if there is none."""
    row = await db.fetchrow(LOAD_SECRETS, key_id)
    if row is None:
        return None
    hashes = (row["secret_sha256"], *([row["previous_sha256"]] if row["takes_previous"] else []))
    principal = _principal(row, Method.KEY)
    return StoredKey(principal, hashes, row["is_valid"], row["revoked_at"], row["expires_at"], row["is_use_due"])


async def record_use(db: Database, key_id: str) -> None:
    """Record that the key is used, once a minute."""
    await db.execute(RECORD_USE, key_id)


async def list_keys(db: Database, tenant_id: str, *, limit: int, after: str | None) -> list[Key]:
    """Return the tenant's keys, newest first."""
    return [_key(row) for row in await db.fetch(LIST_KEYS, tenant_id, after, limit)]


async def lock_key(db: Database, tenant_id: str, key_id: str) -> Key | None:
    """Return the tenant's key, locked until the transaction of `db` ends; None if there is none."""
    row = await db.fetchrow(LOAD_KEY, key_id, tenant_id)
    return None if row is None else _key(row)


async def rotate_key(db: Database, key_id: str, secret: bytes, overlap: dt.timedelta, *, known_to: str | None) -> Key:
    """Give the key another secret; the present one is accepted for `overlap`."""
    return _key(await db.fetchrow(ROTATE_KEY, key_id, secret, overlap, known_to))


async def revoke_key(db: Database, key_id: str, revoked_by: str) -> Key:
    """Revoke the key; the first time counts."""
    return _key(await db.fetchrow(REVOKE_KEY, key_id, revoked_by))


async def insert_session(
    db: Database,
    session_id: str,
    who: Principal,
    secret: bytes,
    *,
    key_secret: bytes | None,
    issuer: str | None,
    lifetime: dt.timedelta,
) -> None:
    """Store a session by the hash of its cookie's value, and that of the secret of the key that opens it."""
    names = (session_id, who.tenant_id, who.name, _texts(who.scopes), who.key_id)
    await db.execute(INSERT_SESSION, *names, key_secret, issuer, secret, lifetime)


async def load_session(db: Database, secret: bytes) -> StoredSession | None:
    """Return the valid session with this hash; None if there is none."""
    row = await db.fetchrow(LOAD_SESSION, secret)
    if row is None:
        return None
    return StoredSession(row["session_id"], _principal(row, Method.SESSION), row["is_use_due"], row["is_rotation_due"])


async def record_seen(db: Database, session_id: str) -> None:
    """Record that the session is used, once a minute."""
    await db.execute(RECORD_SEEN, session_id)


async def rotate_session(db: Database, session_id: str, new: bytes, old: bytes) -> bool:
    """Replace the hash `old`; return False if another request has just done so."""
    return bool((await db.execute(ROTATE_SESSION, session_id, new, old)).endswith(" 1"))


async def lock_session(db: Database, tenant_id: str, session_id: str) -> Session | None:
    """Return the tenant's session, locked until the transaction of `db` ends; None if there is none."""
    row = await db.fetchrow(LOCK_SESSION, session_id, tenant_id)
    return None if row is None else _session(row)


async def revoke_session(db: Database, tenant_id: str, session_id: str) -> Session | None:
    """End the tenant's session and return it; None if there is none."""
    row = await db.fetchrow(REVOKE_SESSION, session_id, tenant_id)
    return None if row is None else _session(row)


async def end_session(db: Database, secret: bytes) -> None:
    """End the session with this hash."""
    await db.execute(END_SESSION, secret)


async def list_sessions(db: Database, tenant_id: str, *, limit: int, after: str | None) -> list[Session]:
    """Return the tenant's open sessions, newest first."""
    return [_session(row) for row in await db.fetch(LIST_SESSIONS, tenant_id, after, limit)]


async def delete_old_sessions(db: Database) -> int:
    """Delete sessions that ended a month ago, and return how many."""
    return await delete_all(db, DELETE_OLD_SESSIONS)


async def bind_name(db: Database, tenant_id: str, issuer: str, subject: str, name: str) -> str | None:
    """Return the person's name: the one that is kept, else `name`, which is kept; None if it is another person's."""
    person = (tenant_id, issuer, subject)
    kept: str | None = await db.fetchval(LOAD_NAME, *person)
    if kept is None:
        await db.execute(INSERT_NAME, *person, name)
        kept = await db.fetchval(LOAD_NAME, *person)
    return kept


def _texts(scopes: frozenset[Scope]) -> list[str]:
    return [scope.value for scope in Scope if scope in scopes]


def _principal(row: asyncpg.Record, method: Method) -> Principal:
    scopes = frozenset(map(Scope, row["scopes"]))
    return Principal(row["tenant_id"], row["name"], scopes, method, row["key_id"], row["known_to"])


def _key(row: asyncpg.Record | None) -> Key:
    assert row is not None, "the statement returns the row that it writes"
    return Key(
        key_id=row["key_id"],
        tenant=row["tenant_id"],
        name=row["name"],
        scopes=[Scope(scope) for scope in row["scopes"]],
        created_by=row["created_by"],
        known_to=row["known_to"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        rotated_at=row["rotated_at"],
        previous_until=row["previous_until"],
        revoked_at=row["revoked_at"],
        revoked_by=row["revoked_by"],
        last_used_at=row["last_used_at"],
    )


def _session(row: asyncpg.Record) -> Session:
    return Session(
        session_id=row["session_id"],
        tenant=row["tenant_id"],
        name=row["name"],
        scopes=[Scope(scope) for scope in row["scopes"]],
        key_id=row["key_id"],
        issuer=row["issuer"],
        created_at=row["created_at"],
        last_seen_at=row["last_seen_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )
