"""Create the API: open the resources that services need and register the routes."""

import asyncio
import contextlib
import datetime as dt
import gc
import operator
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncpg
from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from docrail.activities.registry import load_catalogue
from docrail.adapters.memory import keep_little, settle
from docrail.adapters.postgres.pool import DATABASE_ERRORS, open_pool
from docrail.adapters.postgres.tenants import ALL_ROWS
from docrail.adapters.sandbox.forker import Forker
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.renewal import BLOBS, VALUES, turns_in
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.connection import Connection
from docrail.api import (
    audit,
    batches,
    callbacks,
    codec,
    corrections,
    definitions,
    documents,
    events,
    executions,
    exports,
    failures,
    fleet,
    history,
    keys,
    limits,
    metrics,
    quotas,
    review_views,
    reviews,
    routing,
    run_views,
    runs,
    schedules,
    sessions,
    single_sign_on,
    triggers,
    usage,
)
from docrail.api.auth import Access, CookieRotation
from docrail.api.body_sizes import UPLOADS
from docrail.api.codec import TemporalUi
from docrail.api.console import add_console
from docrail.api.descriptions import describe
from docrail.api.docs import add_docs
from docrail.api.errors import register
from docrail.api.first_key import print_first_key
from docrail.api.first_problems import few_problems
from docrail.api.methods import HeadAsGet
from docrail.api.metrics import RequestMetrics
from docrail.api.middleware.body_limit import BodyLimit, CloseUnread
from docrail.api.middleware.boundary import Boundary
from docrail.api.middleware.deadline import Deadline
from docrail.api.middleware.early_auth import AuthenticateFirst
from docrail.api.middleware.few_uploads import FewUploads
from docrail.api.middleware.forms import MOST_FIELD_BYTES, MOST_FIELDS, MOST_FILES, ReadableForms, close_forms
from docrail.api.middleware.large_requests import LargeRequests
from docrail.api.middleware.tenant_scope import TenantScope
from docrail.api.parameters import no_repeated_keys, only_known
from docrail.services.access.identity_provider import IdentityProvider
from docrail.services.app import App
from docrail.services.documents.originals import Drawings
from docrail.services.engine import open_client
from docrail.services.events.service import MOST_STREAMS, Events
from docrail.services.exports.files import ExportFiles
from docrail.services.gathering import Gatherings
from docrail.services.limited_processes import LimitedProcesses
from docrail.services.quotas.service import Quotas
from docrail.settings import Settings

VERSION = "1"
"""Version of the HTTP interface, as in `/v1`."""

if TYPE_CHECKING:
    from docrail.adapters.tracing import Tracing

CREDENTIALS = 4
"""Connections for checking keys and sessions: each check is one query by primary key."""
CLOSE_SECONDS = 5.0
UNTRACED = r"^https?://[^/]+/(healthz|readyz|metrics)$"
"""Requests of machines, each few seconds."""
CHECK_PROGRAM = "docrail.api.check_program"

ROUTERS = (
    documents.router,
    usage.router,
    usage.totals_router,
    runs.router,
    runs.actions_router,
    run_views.router,
    failures.retries_router,
    failures.router,
    executions.router,
    events.router,
    fleet.v1_router,
    schedules.router,
    triggers.router,
    reviews.router,
    corrections.router,
    history.router,
    review_views.router,
    audit.router,
    exports.router,
    batches.router,
    definitions.router,
    definitions.aliases_router,
    routing.router,
    definitions.handlers_router,
    limits.router,
    quotas.router,
    keys.router,
    sessions.router,
    codec.router,
)
FOR_STRANGERS = (callbacks.router, fleet.router, metrics.router, single_sign_on.router)
"""Called by external systems, which may add parameters of their own."""


def create_app(settings: Settings) -> FastAPI:
    """Return the API. It answers immediately; `/readyz` reports which of its services are still missing.

    Raises: InvalidConnection.
    """
    tracing = settings.open_tracing("docrail-api")
    connection = settings.temporal_connection(tracing)

    api = FastAPI(
        title="Docrail",
        version=VERSION,
        summary="Durable document workflows: upload documents, run definitions, review results.",
        lifespan=_lifespan(settings, connection, tracing),
        docs_url=None,  # the framework's own pages load scripts from other servers
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        form_limits={"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": MOST_FIELD_BYTES},
        generate_unique_id_function=operator.attrgetter("name"),  # operation ids are independent of the path
    )
    api.state.registry = CollectorRegistry()
    api.state.access = Access.of_mode(settings.access, _identity_provider(settings))
    api.state.public_url, api.state.most_streams = settings.public_url, MOST_STREAMS
    register(api)
    _add_routes(api)
    api.openapi = partial(_described, api.openapi)  # type: ignore[method-assign]  # as FastAPI documents it
    _add_middleware(api, settings)
    if tracing is not None:
        _trace_requests(api, tracing)
    return api


def _trace_requests(api: FastAPI, tracing: "Tracing") -> None:
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor  # noqa: PLC0415  # few installations need its memory

    FastAPIInstrumentor.instrument_app(
        api, tracer_provider=tracing.provider, excluded_urls=UNTRACED, exclude_spans=["receive", "send"]
    )


def _lifespan(
    settings: Settings, connection: Connection, tracing: "Tracing | None"
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        keep_little()
        async with open_app(settings, connection) as app:
            api.state.app, api.state.drawings = app, Drawings()
            api.state.events = Events(app, api.state.most_streams)
            first = asyncio.create_task(print_first_key(app.db)) if settings.access == "keys" else None
            settle()
            gc.enable()
            yield
            api.state.events.close()
            if first:
                first.cancel()
        if tracing is not None:
            await tracing.close()

    return lifespan


def _add_middleware(api: FastAPI, settings: Settings) -> None:
    """Add what every request passes through; the last one added is the first one called."""
    api.add_middleware(FewUploads)
    api.add_middleware(LargeRequests)
    api.add_middleware(ReadableForms)
    api.add_middleware(AuthenticateFirst)
    api.add_middleware(CookieRotation)
    api.add_middleware(BodyLimit, uploads={name: getattr(settings, name) for name in sorted({*UPLOADS.values()})})
    api.add_middleware(HeadAsGet)
    api.add_middleware(Deadline)
    api.add_middleware(Boundary, hosts=settings.own_hosts, proxies=settings.trusted_proxies)
    api.add_middleware(RequestMetrics, registry=api.state.registry)
    api.add_middleware(TenantScope)
    api.add_middleware(CloseUnread)
    api.add_middleware(TemporalUi, ui_url=settings.temporal_ui_url)


def _add_routes(api: FastAPI) -> None:
    add_console(api)  # before the routers: its page loads many files, and routes are matched in their order
    for router in ROUTERS:
        api.include_router(router, dependencies=[Depends(only_known), Depends(few_problems), Depends(no_repeated_keys)])
    for router in FOR_STRANGERS:
        api.include_router(router, dependencies=[Depends(no_repeated_keys)])
    add_docs(api)


def _identity_provider(settings: Settings) -> IdentityProvider | None:
    issuer = settings.issuer
    if issuer is None:
        return None
    from docrail.adapters.oidc.issuer import Issuer  # noqa: PLC0415  # joserfc: few installations need its memory

    lifetime = dt.timedelta(minutes=settings.oidc_session_minutes)
    return IdentityProvider(Issuer(issuer), settings.claim_mapping, lifetime)


def _described(generate: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return describe(close_forms(generate()))


@contextlib.asynccontextmanager
async def open_app(settings: Settings, connection: Connection) -> AsyncIterator[App]:
    """Open the resources that services need. Nothing has to be running: each connection is made on first use."""
    pool = await open_pool(settings.database_url, min_size=0)
    credentials = await open_pool(settings.database_url, min_size=0, max_size=CREDENTIALS, rows=ALL_ROWS)
    store = settings.open_store()
    reader, checking = DocumentReader(workers=1), Forker(CHECK_PROGRAM, *settings.handlers)
    try:
        yield App(
            db=pool,
            credentials=credentials,
            temporal=await open_client(connection),
            store=store,
            blobs=BlobStore(store.sub("blobs"), turns_in(pool, BLOBS)),
            values=ValueStore(store.sub("values"), turns_in(pool, VALUES)),
            exports=ExportFiles(store.sub("exports")),
            catalogue=load_catalogue(settings.handlers),
            reader=reader,
            processes=LimitedProcesses(checking),
            quotas=Quotas(settings.quotas),
            gatherings=Gatherings(settings.share_from),
            **settings.app_options,
        )
    finally:
        await checking.close()
        await reader.close()
        await _close(credentials)
        await _close(pool)


async def _close(pool: asyncpg.Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), CLOSE_SECONDS)
    except (TimeoutError, OSError, *DATABASE_ERRORS):
        pool.terminate()
