"""A migrated database for each worker of pytest-xdist, and a connection whose transaction is rolled back."""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database, open_pool
from docrail.adapters.postgres.tenants import ALL_ROWS
from docrail.adapters.store.blobs import BlobRef
from docrail.services.documents.models import Document
from docrail.services.documents.repository.documents import insert_document
from tests.servers import TEMPLATE, Servers, database_at

TENANT, OTHER_TENANT = "acme", "globex"
COMMITTING = "crowd"
"""The tenant of tests that commit: what they leave must not show in the lists of the others."""


@asynccontextmanager
async def empty_database(server_dsn: str, template: str = "template1") -> AsyncIterator[str]:
    """Create a database on the server of `server_dsn`, yield its DSN, and drop it."""
    name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
    await administer(server_dsn, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield database_at(server_dsn, name)
    await administer(server_dsn, f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def migrated_database(server_dsn: str) -> AsyncIterator[str]:
    """Yield the DSN of a clone of the database that was migrated once for the session."""
    async with empty_database(server_dsn, TEMPLATE) as dsn:
        yield dsn


async def administer(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture(scope="session")
async def dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as name:
        yield name


@pytest.fixture(scope="session")
async def pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await open_pool(dsn, rows=ALL_ROWS)  # tests/security has those of the gate
    yield opened
    await opened.close()


@pytest.fixture
async def db(pool: asyncpg.Pool) -> AsyncIterator[PoolConnectionProxy]:
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        yield connection
        await transaction.rollback()


async def as_owner(connection: PoolConnectionProxy) -> None:
    """Let the session do what only the owner of the database can, until its transaction is rolled back."""
    await connection.execute("SET ROLE NONE")


def new_document_id() -> str:
    return f"doc_{secrets.token_hex(13)}"


def blob_of(text: str) -> BlobRef:
    return BlobRef(sha256(text.encode()).hexdigest(), len(text))


async def upload(
    db: Database,
    *,
    tenant_id: str = TENANT,
    document_id: str | None = None,
    blob: BlobRef | None = None,
    run_id: str | None = None,
) -> Document:
    """Store a document row; by default with new bytes under a new id."""
    document_id = document_id or new_document_id()
    return await insert_document(
        db,
        tenant_id,
        document_id,
        blob or blob_of(document_id),
        media_type="application/pdf",
        file_name="invoice.pdf",
        sla_hours=24,
        run_id=run_id,
    )
