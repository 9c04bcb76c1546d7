"""Connect to PostgreSQL: the pool, transactions, JSON columns, and the base class of storage errors."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from docrail.dag.values.json_values import Json

Database = asyncpg.Pool | asyncpg.Connection | PoolConnectionProxy
"""Where a statement runs: a pool (its own transaction) or a connection (the caller's transaction)."""

COMMAND_SECONDS = 30.0
"""No statement takes a second; a hanging server must not block the worker's slot. Every write can be repeated."""
CONNECT_SECONDS = 10.0

DATABASE_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError)
"""Errors of a database that is reachable but refuses the connection or the statement."""


class StorageError(Exception):
    """Base class of storage errors."""


class NotStored(StorageError, ValueError):  # noqa: N818  # a statement about what was asked for
    """The tenant has no such object. A ValueError, because asking again does not help."""

    def __init__(self, kind: str, name: str, tenant_id: str) -> None:
        super().__init__(f"tenant {tenant_id!r} has no {kind} {name!r}")
        self.kind = kind
        self.name = name
        self.tenant_id = tenant_id


async def open_pool(dsn: str, *, min_size: int = 2, max_size: int = 10) -> asyncpg.Pool:
    """Connect to the database at `dsn`. json and jsonb columns are read and written as Python values.

    A broken connection is replaced when next needed, so the pool survives a restart of the server.
    """
    return await asyncpg.create_pool(
        dsn,
        min_size=min_size,
        max_size=max_size,
        init=_prepare,
        reset=_keep_session,
        timeout=CONNECT_SECONDS,
        command_timeout=COMMAND_SECONDS,
        server_settings={"application_name": "docrail", "jit": "off"},
    )


@asynccontextmanager
async def transaction(pool: asyncpg.Pool) -> AsyncIterator[PoolConnectionProxy]:
    """Yield a connection inside a transaction: committed at the end, rolled back if the block raises."""
    async with pool.acquire() as connection, connection.transaction():
        yield connection


async def _prepare(connection: asyncpg.Connection) -> None:
    for type_name in ("json", "jsonb"):
        await connection.set_type_codec(type_name, encoder=_encode, decoder=json.loads, schema="pg_catalog")


async def _keep_session(_: asyncpg.Connection) -> None:
    """Skip the round trip that resets a returned connection: the statements leave no state in a session.

    An open transaction is rolled back all the same; session locks (adapters/postgres/migrate.py) use a connection of
    their own.
    """


def _encode(value: Json) -> str:
    return json.dumps(value, allow_nan=False)
