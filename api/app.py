"""Create the API: open the resources that services need and register the routes."""

import asyncio
import contextlib
import operator
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import asyncpg
from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from docrail.activities.registry import load_catalogue
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.renewal import BLOBS, VALUES, turns_in
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.connection import Connection, find_connection
from docrail.api import (
    audit,
    callbacks,
    codec,
    corrections,
    definitions,
    documents,
    executions,
    failures,
    fleet,
    limits,
    metrics,
    reviews,
    routing,
    runs,
    usage,
)
from docrail.api.body_limit import BodyLimit
from docrail.api.codec import TemporalUi
from docrail.api.descriptions import describe
from docrail.api.docs import add_docs
from docrail.api.errors import register
from docrail.api.metrics import RequestMetrics
from docrail.api.parameters import only_known
from docrail.services.app import App
from docrail.services.documents.originals import Drawings
from docrail.services.engine import open_client
from docrail.settings import Settings

VERSION = "1"
"""Version of the HTTP interface, as in `/v1`."""

CLOSE_SECONDS = 5.0

ROUTERS = (
    documents.router,
    usage.router,
    runs.router,
    runs.actions_router,
    failures.retries_router,
    failures.router,
    executions.router,
    reviews.router,
    corrections.router,
    audit.router,
    definitions.router,
    definitions.aliases_router,
    routing.router,
    definitions.handlers_router,
    limits.router,
    codec.router,
)
FOR_STRANGERS = (callbacks.router, fleet.router, metrics.router)
"""Called by external systems, which may add parameters of their own."""


def create_app(settings: Settings) -> FastAPI:
    """Return the API. It answers immediately; `/readyz` reports which of its services are still missing.

    Raises: InvalidConnection.
    """
    connection = find_connection(
        settings.temporal_address,
        settings.temporal_namespace,
        envconfig=settings.temporal_envconfig,
        keys=settings.encryption,
    )

    @contextlib.asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        async with open_app(settings, connection) as app:
            api.state.app, api.state.drawings = app, Drawings()
            yield

    api = FastAPI(
        title="Docrail",
        version=VERSION,
        summary="Durable document workflows: upload documents, run definitions, review results.",
        lifespan=lifespan,
        docs_url=None,  # the framework's own pages load scripts from other servers
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        generate_unique_id_function=operator.attrgetter("name"),  # operation ids are independent of the path
    )
    api.state.registry = CollectorRegistry()
    api.state.trust_names = settings.trust_names
    register(api)
    for router in ROUTERS:
        api.include_router(router, dependencies=[Depends(only_known)])
    for router in FOR_STRANGERS:
        api.include_router(router)
    add_docs(api)
    api.openapi = partial(_described, api.openapi)  # type: ignore[method-assign]  # as FastAPI documents it
    api.add_middleware(BodyLimit, max_upload_bytes=settings.max_upload_bytes)
    api.add_middleware(RequestMetrics, registry=api.state.registry)
    api.add_middleware(TemporalUi, ui_url=settings.temporal_ui_url)  # outermost
    return api


def _described(generate: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return describe(generate())


@contextlib.asynccontextmanager
async def open_app(settings: Settings, connection: Connection) -> AsyncIterator[App]:
    """Open the resources that services need. Nothing has to be running: each connection is made on first use."""
    pool = await open_pool(settings.database_url, min_size=0)
    store = settings.open_store()
    reader = DocumentReader(workers=1)
    try:
        yield App(
            db=pool,
            temporal=await open_client(connection),
            blobs=BlobStore(store.sub("blobs"), turns_in(pool, BLOBS)),
            values=ValueStore(store.sub("values"), turns_in(pool, VALUES)),
            catalogue=load_catalogue(settings.handlers),
            task_queue=settings.task_queue,
            resource_limits=settings.resource_limits,
            temporal_ui_url=settings.temporal_ui_url,
            max_upload_bytes=settings.max_upload_bytes,
            callback_keys=settings.callback_keys,
            four_eyes_above=settings.four_eyes_above,
            reader=reader,
        )
    finally:
        await reader.close()
        await _close(pool)


async def _close(pool: asyncpg.Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), CLOSE_SECONDS)
    except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        pool.terminate()
