"""Connect to PostgreSQL: the pool, transactions, JSON columns, and the base class of storage errors."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.tenants import NO_ROWS, TENANT_ROLE, Rows, visible_rows
from docrail.dag.values.json_values import Json

Database = asyncpg.Pool | asyncpg.Connection | PoolConnectionProxy
"""Where a statement runs: a pool (its own transaction) or a connection (the caller's transaction)."""

COMMAND_SECONDS = 30.0
"""No statement takes a second; a hanging server must not block the worker's slot. Every write can be repeated."""
CONNECT_SECONDS = 10.0

DATABASE_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""Errors of a database that refuses the connection or the statement, or that is killed in the middle of one."""


class StorageError(Exception):
    """Base class of storage errors."""


class NotStored(StorageError, ValueError):  # noqa: N818  # a statement about what was asked for
    """The tenant has no such object. A ValueError, because asking again does not help."""

    def __init__(self, kind: str, name: str, tenant_id: str) -> None:
        super().__init__(f"tenant {tenant_id!r} has no {kind} {name!r}")
        self.kind = kind
        self.name = name
        self.tenant_id = tenant_id


SHOW_ROWS = "SELECT set_config('role', $1, false), set_config('docrail.tenant', $2, false)"
"""In a statement of its own, outside of any transaction: a rollback would undo it."""


class _Connection(asyncpg.Connection):
    """A connection that knows which rows its session sees: asyncpg's own way of adding to one."""

    __slots__ = ("rows",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows = NO_ROWS

    async def show(self, rows: Rows) -> None:
        """Let the session see these rows only. One round trip, and none if it does already."""
        if self.rows != rows:
            await self.execute(SHOW_ROWS, rows.role, rows.tenant_id)
            self.rows = rows


async def open_pool(dsn: str, *, min_size: int = 2, max_size: int = 10, rows: Rows = NO_ROWS) -> asyncpg.Pool:
    """Connect to the database at `dsn`. json and jsonb columns are read and written as Python values.

    A connection sees the rows of the tenant of the code that takes it (tenants.py), outside of every tenant `rows`.
    A broken connection is replaced when next needed, so the pool survives a restart of the server.
    """

    async def setup(connection: PoolConnectionProxy) -> None:
        await cast(_Connection, connection).show(visible_rows() or rows)  # it is a proxy of one

    return await asyncpg.create_pool(
        dsn,
        min_size=min_size,
        max_size=max_size,
        init=_prepare,
        setup=setup,
        reset=_keep_session,
        connection_class=_Connection,
        timeout=CONNECT_SECONDS,
        command_timeout=COMMAND_SECONDS,
        # The role in the startup message: no session ever begins as another, and RESET ROLE returns to it.
        server_settings={"application_name": "docrail", "jit": "off", "role": TENANT_ROLE},
    )


@asynccontextmanager
async def transaction(pool: asyncpg.Pool) -> AsyncIterator[PoolConnectionProxy]:
    """Yield a connection inside a transaction: committed at the end, rolled back if the block raises."""
    async with pool.acquire() as connection, connection.transaction():
        yield connection


PLAN_FOR_VALUES = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"


@asynccontextmanager
async def planned_for_values(db: Database) -> AsyncIterator[asyncpg.Connection | PoolConnectionProxy]:
    """Yield a connection whose statements are planned again for the values of each call, until the block ends.

    For filters that match a few rows or most of them. PostgreSQL otherwise keeps one plan for all values after five
    calls; planning takes a few milliseconds.
    """
    if isinstance(db, asyncpg.Pool):
        async with db.acquire() as connection, planned_for_values(connection) as planned:
            yield planned
        return
    async with db.transaction():
        await db.execute(PLAN_FOR_VALUES)
        yield db


COMMITS_LATER = "(NOT {is_alone}::boolean OR set_config('synchronous_commit', 'off', true) = 'off')"
"""A condition that lets a statement which `is_alone` in its transaction commit without waiting for the disk: a crash of
the server may undo it, until something that waits is committed after it. For what is then done again."""


def is_alone(db: Database) -> bool:
    """Return whether a statement has a transaction of its own there."""
    return isinstance(db, asyncpg.Pool)


MOST_DELETED = 5000
"""Rows that one DELETE removes, so that it neither takes long nor holds many locks."""


async def delete_all(db: Database, statement: str, *values: object) -> int:
    """Repeat a DELETE of at most $1 rows until none are left, and return how many it deleted. Not in a transaction."""
    deleted = last = int((await db.execute(statement, MOST_DELETED, *values)).split()[-1])
    while last == MOST_DELETED:
        last = int((await db.execute(statement, MOST_DELETED, *values)).split()[-1])
        deleted += last
    return deleted


async def _prepare(connection: asyncpg.Connection) -> None:
    for type_name in ("json", "jsonb"):
        await connection.set_type_codec(type_name, encoder=_encode, decoder=json.loads, schema="pg_catalog")


async def _keep_session(_: asyncpg.Connection) -> None:
    """Skip the round trip that resets a returned connection: the statements leave no state but the tenant's.

    An open transaction is rolled back all the same; session locks (adapters/postgres/migrate.py) use a connection of
    their own.
    """


def _encode(value: Json) -> str:
    return json.dumps(value, allow_nan=False)
