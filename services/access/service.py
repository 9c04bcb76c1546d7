"""Create, check, rotate and revoke API keys, and open, check and end browser sessions.

A key is `docrail_ID_SECRET`. The secret has 256 random bits and is stored as its SHA-256: a slow hash protects
passwords, which can be guessed from a list, but no one can try 2^256 secrets. Nothing is cached, so that a revoked key
is refused by every process at once; checking one costs a single query by primary key.
"""

import datetime as dt
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.services.access import repository
from docrail.services.access.models import (
    DEFAULT_TENANT,
    NAME_PATTERN,
    RESERVED,
    TENANT_PATTERN,
    Key,
    Method,
    NewKey,
    Principal,
    Scope,
    Session,
    TenantKeys,
    person,
    system_principal,
)
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.errors import Claimed, InvalidInput, NotFound, Unauthenticated, WrongState
from docrail.services.paging import text_of

PREFIX = "docrail_"
"""Of every API key; a bearer token without it is one of an identity provider."""

_KEY = re.compile(r"docrail_([0-9a-f]{16})_([0-9a-f]{64})")

OVERLAP = dt.timedelta(hours=24)
"""How long the secret before a rotation is accepted."""

SESSION_LIFETIME = dt.timedelta(hours=12)
"""A working day: after it a person signs in again."""

FIRST_NAME = "admin"
"""Name of the key that a server prints on its first start."""


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A checked session. `new_cookie`: the value that the browser must use from now on; None: the one that it has."""

    principal: Principal
    new_cookie: str | None = None


async def create_key(
    db: asyncpg.Pool, who: Principal, name: str, scopes: Iterable[Scope], expires_at: dt.datetime | None = None
) -> NewKey:
    """Create a key in the principal's tenant. Raises: InvalidInput."""
    wanted = Principal(who.tenant_id, person(name), frozenset(scopes), known_to=_knower(who))
    _check(wanted, expires_at)
    async with transaction(db) as tx:
        return await _insert(tx, wanted, by=who, expires_at=expires_at)


async def create_first_key(db: asyncpg.Pool) -> NewKey | None:
    """Create a key with all scopes in the default tenant if the database has never had a key, else return None.

    Of several processes that call this at once, one gets the key.
    """
    wanted = replace(system_principal(DEFAULT_TENANT), name=FIRST_NAME)
    with all_tenants():
        async with transaction(db) as tx:
            await repository.lock_first(tx)
            if await repository.has_keys(tx):
                return None
            return await _insert(tx, wanted, by=system_principal(DEFAULT_TENANT), expires_at=None)


async def list_tenants(db: asyncpg.Pool) -> list[str]:
    """Return the tenants that ever had a key, or a person of an identity provider, by name."""
    with all_tenants():
        return await repository.list_tenants(db)


async def load_tenants(db: Database) -> list[TenantKeys]:
    """Return the tenants that ever had a key or a person, and the operator's own, by name. Sees what the caller may."""
    return await repository.load_tenants(db, DEFAULT_TENANT)


async def list_keys(
    db: asyncpg.Pool, who: Principal, *, limit: int = 100, after: str | None = None
) -> tuple[list[Key], str | None]:
    """Return a page of the tenant's keys, newest first, and the `after` of the next page."""
    last = None if after is None else text_of(after)
    found = await repository.list_keys(db, who.tenant_id, limit=limit + 1, after=last)
    return found[:limit], found[limit - 1].key_id if len(found) > limit else None


async def rotate_key(db: asyncpg.Pool, who: Principal, key_id: str, overlap: dt.timedelta = OVERLAP) -> NewKey:
    """Give a key a new secret. The present one is accepted for `overlap`, one from before that no longer.

    Raises: NotFound, WrongState (revoked or expired).
    """
    async with transaction(db) as tx:
        key = await _lock(tx, who, key_id)
        if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= dt.datetime.now(dt.UTC)):
            state = "revoked" if key.revoked_at is not None else "expired"
            raise WrongState("rotate", state, "key", advice="create another key")
        text, secret = _new_key(key_id)
        rotated = await repository.rotate_key(tx, key_id, secret, overlap, known_to=_knower(who))
        await _record(tx, who, "key_rotated", rotated)
        return NewKey(text, rotated)


async def renew_key(db: asyncpg.Pool, who: Principal, key_id: str | None) -> NewKey:
    """Return the principal's own key with a new secret, which ends the one before; or a new key if there is none."""
    try:
        return await rotate_key(db, who, key_id or "", dt.timedelta(0))
    except (NotFound, WrongState):
        return await create_key(db, who, who.name, who.scopes)


async def revoke_key(db: asyncpg.Pool, who: Principal, key_id: str) -> Key:
    """Revoke a key, and end the sessions that it opened, in every process at once. Safe to repeat. Raises: NotFound."""
    async with transaction(db) as tx:
        before = await _lock(tx, who, key_id)
        revoked = await repository.revoke_key(tx, key_id, who.name)
        if before.revoked_at is None:
            await _record(tx, who, "key_revoked", revoked)
        return revoked


async def list_known_to(db: Database, tenant_id: str, name: str) -> list[str]:
    """Return everyone who got the secret of a key of `name` over HTTP: where two people must act, they are one."""
    return await repository.list_known_to(db, tenant_id, name)


async def verify_key(db: asyncpg.Pool, text: str) -> Principal:
    """Return the principal of an API key. `db` is best a pool for credentials alone. Raises: Unauthenticated."""
    parts = _KEY.fullmatch(text)
    stored = None if parts is None else await _load_secrets(db, parts[1])
    if parts is None or stored is None or not _is_one_of(parts[2], stored.hashes):
        claimed = None if stored is None else _claimed(stored.principal)
        raise Unauthenticated("the API key is not valid: create one with `docrail key create`", claimed)
    if not stored.is_valid:  # only its holder learns this
        how = f"was revoked on {stored.revoked_at:%Y-%m-%d}" if stored.revoked_at else f"expired on {stored.expires_at}"
        why = f"the API key {parts[1]} {how}: create another with `docrail key create`"
        raise Unauthenticated(why, _claimed(stored.principal))
    if stored.is_use_due:
        with all_tenants():
            await repository.record_use(db, parts[1])
    return stored.principal


def _claimed(who: Principal) -> Claimed:
    return Claimed(who.tenant_id, who.name, who.key_id or "")


async def _load_secrets(db: asyncpg.Pool, key_id: str) -> repository.StoredKey | None:
    """Return a key, whose tenant is not known before."""
    with all_tenants():
        return await repository.load_secrets(db, key_id)


async def open_session(
    db: asyncpg.Pool,
    who: Principal,
    *,
    key: str | None = None,
    issuer: str | None = None,
    lifetime: dt.timedelta = SESSION_LIFETIME,
) -> str:
    """Open a browser session for an authenticated principal, and return the value of its cookie.

    `key`: the API key that authenticated the principal, if one did: the session ends when the key does, or the secret
    in it, as after a rotation.
    """
    cookie, session_id = secrets.token_hex(32), f"ses_{secrets.token_hex(8)}"
    key_secret = None if key is None else _hash(key.rpartition("_")[2])
    with of_tenant(who.tenant_id):
        await repository.insert_session(
            db, session_id, who, _hash(cookie), key_secret=key_secret, issuer=issuer, lifetime=lifetime
        )
    return cookie


async def delete_old_sessions(db: Database) -> int:
    """Delete the sessions of all tenants that ended a month ago, and return how many."""
    return await repository.delete_old_sessions(db)


async def verify_session(db: asyncpg.Pool, cookie: str) -> OpenedSession:
    """Return a session's principal by its cookie, which is replaced every hour of use. Raises: Unauthenticated."""
    stored = await _load_session(db, cookie)
    with all_tenants():  # the pool of credentials has one role
        if stored.is_rotation_due:
            new = secrets.token_hex(32)
            if await repository.rotate_session(db, stored.session_id, _hash(new), _hash(cookie)):
                return OpenedSession(stored.principal, new)
        if stored.is_use_due:
            await repository.record_seen(db, stored.session_id)
    return OpenedSession(stored.principal)


async def check_session(db: asyncpg.Pool, cookie: str) -> Principal:
    """Return a session's principal. The cookie stays, for an answer that has begun. Raises: Unauthenticated."""
    return (await _load_session(db, cookie)).principal


async def _load_session(db: asyncpg.Pool, cookie: str) -> repository.StoredSession:
    """Return a valid session, whose tenant is not known before. Raises: Unauthenticated."""
    with all_tenants():
        stored = await repository.load_session(db, _hash(cookie))
    if stored is None:
        raise Unauthenticated("the session has ended: sign in again")
    return stored


async def end_session(db: asyncpg.Pool, cookie: str) -> None:
    """End the session of a cookie. Safe to repeat."""
    with all_tenants():  # a browser may have the cookie of another tenant's session
        await repository.end_session(db, _hash(cookie))


async def list_sessions(
    db: asyncpg.Pool, who: Principal, *, limit: int = 100, after: str | None = None
) -> tuple[list[Session], str | None]:
    """Return a page of the tenant's open sessions, newest first, and the `after` of the next page."""
    last = None if after is None else text_of(after)
    found = await repository.list_sessions(db, who.tenant_id, limit=limit + 1, after=last)
    return found[:limit], found[limit - 1].session_id if len(found) > limit else None


async def revoke_session(db: asyncpg.Pool, who: Principal, session_id: str) -> Session:
    """End a session of the tenant. Safe to repeat. Raises: NotFound."""
    async with transaction(db) as tx:
        before = await repository.lock_session(tx, who.tenant_id, session_id)
        found = await repository.revoke_session(tx, who.tenant_id, session_id)
        if before is None or found is None:
            raise NotFound("session", session_id)
        if before.revoked_at is None:
            facts: dict[str, Json] = {"session_id": session_id, "name": found.name}
            await append_event(tx, who.tenant_id, Act(who.name, "session_ended", None, None, facts))
    return found


def _check(wanted: Principal, expires_at: dt.datetime | None) -> None:
    """Raise InvalidInput unless a key may be created for `wanted`."""
    problems = []
    if not re.fullmatch(TENANT_PATTERN, wanted.tenant_id):
        expected = "1 to 63 lowercase letters, digits, _ and -, the first a letter or a digit"
        problems.append(InputProblem("tenant", f"must be {expected}, found {wanted.tenant_id[:80]!r}"))
    if not re.fullmatch(NAME_PATTERN, wanted.name):
        problems.append(
            InputProblem("name", f"must be 1 to 64 letters, digits, spaces and . _ @ -, found {wanted.name[:80]!r}")
        )
    if wanted.name in RESERVED:
        problems.append(InputProblem("name", f"{wanted.name!r} is reserved for Docrail itself: choose another name"))
    if not wanted.scopes:
        problems.append(InputProblem("scopes", f"must have at least one of {', '.join(Scope)}"))
    if expires_at is not None and expires_at <= dt.datetime.now(dt.UTC):
        problems.append(InputProblem("expires_at", f"must be in the future, found {expires_at.isoformat()}"))
    if problems:
        raise InvalidInput(problems)


def _knower(who: Principal) -> str | None:
    """Return the person who learns a secret that `who` gets; None on the server's machine, where all is open anyway."""
    return None if who.method is Method.INTERNAL else who.known_to or who.name


async def _insert(tx: Database, wanted: Principal, *, by: Principal, expires_at: dt.datetime | None) -> NewKey:
    key_id = secrets.token_hex(8)
    text, secret = _new_key(key_id)
    key = await repository.insert_key(tx, key_id, wanted, secret, created_by=by.name, expires_at=expires_at)
    await _record(tx, by, "key_created", key)
    return NewKey(text, key)


async def _record(tx: Database, who: Principal, act: str, key: Key) -> None:
    """Add an act on a key to the audit log. Comes last: it locks the tenant's log."""
    until = None if key.expires_at is None else key.expires_at.isoformat()
    facts: dict[str, Json] = {"key_id": key.key_id, "name": key.name, "scopes": [*key.scopes], "expires_at": until}
    await append_event(tx, key.tenant, Act(who.name, act, None, None, facts))


async def _lock(tx: Database, who: Principal, key_id: str) -> Key:
    key = await repository.lock_key(tx, who.tenant_id, key_id)
    if key is None:
        raise NotFound("key", key_id)
    return key


def _new_key(key_id: str) -> tuple[str, bytes]:
    """Return a key with a new secret, and the hash of the secret."""
    secret = secrets.token_hex(32)
    return f"{PREFIX}{key_id}_{secret}", _hash(secret)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _is_one_of(secret: str, hashes: Iterable[bytes]) -> bool:
    """Compare in constant time."""
    found = _hash(secret)
    return any(hmac.compare_digest(found, each) for each in hashes)
