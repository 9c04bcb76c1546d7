"""Root of the API: opens what operations need, puts the routes together, keeps house beside them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from activities.registry import load_catalogue
from api import definitions, documents, health, metrics, reviews, runs, workflow
from api.errors import register
from api.limits import BodyLimit
from api.metrics import RequestMetrics
from operations.app import App
from operations.definitions import publish_shipped
from operations.documents import start_waiting_documents
from operations.engine import open_client
from settings import Settings
from storage.blobs import BlobStore
from storage.db import open_pool

VERSION = "1"
"""Of the HTTP interface, as in `/v1`."""

RETRY_SECONDS = 1.0
SWEEP_SECONDS = 15.0
"""How often documents are looked for whose upload was cut short."""

CLOSE_SECONDS = 5.0

ROUTERS = (documents, runs, workflow, reviews, definitions, health, metrics)

log = logging.getLogger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """Return the API. It answers at once; `/readyz` tells which of its services are still missing."""

    @contextlib.asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        async with open_app(settings) as app:
            api.state.app = app
            house = asyncio.create_task(keep_house(app))
            try:
                yield
            finally:
                house.cancel()
                await asyncio.wait([house])

    api = FastAPI(
        title="Docrail",
        version=VERSION,
        summary="Durable document workflows: upload documents, run definitions, review results.",
        lifespan=lifespan,
    )
    api.state.registry = CollectorRegistry()
    register(api)
    for module in ROUTERS:
        api.include_router(module.router)
    api.add_middleware(BodyLimit, max_upload_bytes=settings.max_upload_bytes)
    api.add_middleware(RequestMetrics, registry=api.state.registry)
    return api


@contextlib.asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """Open what operations need. Nothing has to be up: each connection is made when it is first used."""
    pool = await open_pool(settings.database_url, min_size=0)
    try:
        yield App(
            db=pool,
            temporal=await open_client(settings.temporal_address, settings.temporal_namespace),
            blobs=BlobStore(settings.data_dir / "blobs"),
            catalogue=load_catalogue(),
            task_queue=settings.task_queue,
            temporal_ui_url=settings.temporal_ui_url,
            max_upload_bytes=settings.max_upload_bytes,
        )
    finally:
        await _close(pool)


async def keep_house(app: App) -> None:
    """Publish what is shipped as soon as PostgreSQL is there; start waiting documents again and again."""
    published = False
    while True:
        published = published or await _survives(publish_shipped, app)
        await _survives(start_waiting_documents, app)
        await asyncio.sleep(SWEEP_SECONDS if published else RETRY_SECONDS)


async def _survives(work: Callable[[App], Awaitable[object]], app: App) -> bool:
    """Tell whether `work` was done. Whatever stops it is logged and tried again: nobody waits for the answer."""
    try:
        await work(app)
    except Exception as error:  # noqa: BLE001 - housekeeping must outlive every outage and every bad row
        log.warning("%s: %r; trying again", work.__name__, error)
        return False
    return True


async def _close(pool: asyncpg.Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), CLOSE_SECONDS)
    except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        pool.terminate()
