"""Serve the API over HTTP or HTTPS, with bounds on connections, time, file handles and log (ADR 35)."""

import asyncio
import logging
import resource
import ssl
from contextlib import suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.api.connections import Bounds, Connections
from docrail.services.app import App
from docrail.services.fleet.store_identity import claim_store
from docrail.settings import Settings

GRACE_SECONDS = 10
"""How long requests may still take when the API is stopped."""
KEEP_ALIVE_SECONDS = 75
"""How long a connection is kept after an answer: longer than by clients and proxies, mostly 5 and 60 s. A request that
one of them sends while we close the connection is lost. When there are too many, idle ones are closed first.
"""
MOST_FILES = 65_536
"""File handles that are asked for; the system may allow fewer."""
MOST_CONNECTIONS = 1000
STREAM_SHARE = 4
"""One connection of so many may be a stream of live events, so that streams leave room for requests."""
BACKLOG = 100
"""Connections that the system accepts for us; asyncio tries as many accepts in one go."""
HANDSHAKE_SECONDS = 10.0
CLAIM_SECONDS = 2.0
"""How long the first request waits for the check of the store, and how often that is repeated until it answers."""
RENEWAL_SECONDS = 5.0
"""How often the files of the certificate are looked at."""

log = logging.getLogger(__name__)


class CertificateError(Exception):
    """The certificate or its key cannot be used. The message names the option."""


def serve(api: FastAPI, settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C, then let requests end. Raises: CertificateError, WrongStore, OSError."""
    context = tls_context(settings.tls_cert, settings.tls_key)
    most = min(MOST_CONNECTIONS, raise_file_limit() // 2)
    connections, api.state.most_streams = Connections(Bounds(most)), most // STREAM_SHARE
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(uvicorn.Server(config_of(api, connections)), api, settings, context))


def config_of(api: FastAPI, connections: Connections) -> uvicorn.Config:
    """Return the configuration of the server."""
    return uvicorn.Config(
        api,
        http=connections.protocol,  # type: ignore[arg-type]  # only called
        ws="none",
        log_config=None,  # all lines pass through our handler
        access_log=False,  # /metrics counts requests
        proxy_headers=False,  # api/middleware/boundary.py reads them
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def raise_file_limit() -> int:
    """Raise this process's limit of open files as far as it may, and return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], MOST_FILES)


def tls_context(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Return how to serve HTTPS; None for HTTP. Raises: CertificateError."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        missing = "--tls-cert" if cert is None else "--tls-key"
        raise CertificateError(f"--tls-cert and --tls-key go together: {missing} is missing")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    load_certificate(context, cert, key)
    return context


def load_certificate(context: ssl.SSLContext, cert: Path, key: Path) -> None:
    """Use a certificate for new connections. Raises: CertificateError, and then nothing has changed."""
    for option, path in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise CertificateError(f"{option}: cannot read {path}: {error.strerror}") from None
    try:
        for each in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), context):  # the first is a trial
            each.load_cert_chain(cert, key, password=str)  # an empty password: otherwise OpenSSL asks at the terminal
    except ssl.SSLError as error:
        raise CertificateError(_reason(error, cert, key)) from None


def _reason(error: ssl.SSLError, cert: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"--tls-key: {key} is not the key of the certificate {cert}: expected the two that were made together"
    return (
        f"--tls-cert {cert} and --tls-key {key}: expected a certificate chain and its private key without a password, "
        f"both in PEM ({error.reason or error})"
    )


async def _serve(server: uvicorn.Server, api: FastAPI, settings: Settings, context: ssl.SSLContext | None) -> None:
    """Run uvicorn's server on a listener of our own, as uvicorn limits no handshake."""
    config = server.config
    config.load()
    server.lifespan = config.lifespan_class(config)
    with server.capture_signals():
        await server.startup(sockets=[])
        claiming = await _begin_claim(server, api)
        if not claiming.done() or claiming.exception() is None:
            await _listen(server, settings, context)
        renewing = asyncio.create_task(_renew(context, settings))
        try:
            await server.main_loop()
        finally:
            renewing.cancel()
            claiming.cancel()
            if events := getattr(api.state, "events", None):  # None: the startup failed
                events.close()  # streams have no end that a graceful stop could wait for
            await server.shutdown()
    if claiming.done() and not claiming.cancelled():
        claiming.result()


async def _begin_claim(server: uvicorn.Server, api: FastAPI) -> asyncio.Task[None]:
    """Return the task that claims the store, once it has ended or CLAIM_SECONDS have passed. If it fails, we stop."""

    def stop_if_wrong(ended: asyncio.Task[None]) -> None:
        server.should_exit |= ended.cancelled() or ended.exception() is not None

    claiming = asyncio.create_task(_claim(api.state.app))
    claiming.add_done_callback(stop_if_wrong)
    await asyncio.wait([claiming], timeout=CLAIM_SECONDS)
    return claiming


async def _claim(app: App) -> None:
    """Claim the store as soon as it and PostgreSQL answer. Raises: WrongStore."""
    while True:
        with suppress(OSError, TimeoutError, *DATABASE_ERRORS):  # /readyz names them
            await claim_store(app.db, app.store)
            return
        await asyncio.sleep(CLAIM_SECONDS)


async def _listen(server: uvicorn.Server, settings: Settings, context: ssl.SSLContext | None) -> None:
    def connect() -> asyncio.BaseProtocol:
        state = server.lifespan.state
        return server.config.http_protocol_class(
            config=server.config, server_state=server.server_state, app_state=state
        )  # type: ignore[call-arg]

    listener = await asyncio.get_running_loop().create_server(
        connect,
        settings.api_host,
        settings.api_port,
        ssl=context,
        backlog=BACKLOG,
        ssl_handshake_timeout=HANDSHAKE_SECONDS if context else None,
    )
    server.servers.append(listener)
    scheme, port = "https" if context else "http", listener.sockets[0].getsockname()[1]
    log.info("listening on %s://%s:%d", scheme, settings.api_host, port)


async def _renew(context: ssl.SSLContext | None, settings: Settings) -> None:
    """Use certificates that are renewed, without a restart."""
    if context is None or settings.tls_cert is None or settings.tls_key is None:
        return
    known = _changed_at(settings.tls_cert, settings.tls_key)
    while True:
        await asyncio.sleep(RENEWAL_SECONDS)
        if (now := _changed_at(settings.tls_cert, settings.tls_key)) == known:
            continue
        known = now
        try:
            load_certificate(context, settings.tls_cert, settings.tls_key)
        except CertificateError as error:
            log.error("the renewed certificate is not used: %s", error)  # noqa: TRY400 - the message says it all
        else:
            log.info("the renewed certificate %s is used", settings.tls_cert)


def _changed_at(*paths: Path) -> list[int]:
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]
