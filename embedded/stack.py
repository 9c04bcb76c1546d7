"""Run all of Docrail on one machine: both servers, migrations, the API and workers, as children of this process."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import httpx

from docrail.adapters.postgres.migrate import migrate
from docrail.embedded.claims import (
    HOST,
    LocalKey,
    claim_ports,
    hold,
    keep_key,
    make_webhook_secret,
    read_local_key,
    write_local_key,
)
from docrail.embedded.postgres import PostgresServer, admit_services, own_folder, socket_folder, start_postgres
from docrail.embedded.processes import ProcessError, Program, Report, Supervised, wait_until
from docrail.embedded.temporal import (
    NAMESPACE,
    PrivateNetwork,
    TemporalServer,
    allows_private_network,
    start_temporal,
)
from docrail.embedded.ui_guard import guard_ui, hidden_host

READY_SECONDS = 60.0
"""Timeout for the API and the workers to become ready; a slow, busy machine needs a tenth of it."""
GRACE_MARGIN_SECONDS = 10.0
"""A worker drains for its grace period; after this additional time it is considered hung, and killed."""
API_STOP_SECONDS = 15.0
OPEN_TEMPORAL = (
    "warning: this system gives programs no network of their own, so other users of this machine reach Temporal, which "
    "asks for no key: use a Temporal of your own (docs/howto/network.md)"
)
LOCAL = {"0.0.0.0": HOST, "::": "[::1]"}  # noqa: S104 - compared, not bound
"""Addresses for connecting to a server that listens on all addresses."""


@dataclass(frozen=True, slots=True)
class StackOptions:
    """The stack's data folder and ports. Port 0 takes a free one."""

    data_dir: Path
    api_host: str = HOST
    api_port: int = 8000
    temporal_port: int = 7233
    ui_port: int = 8233
    workers: int = 1
    graceful_shutdown_seconds: float = 30.0
    public_url: str | None = None
    """URL at which others reach the API; default: its own address."""
    callback_key: str | None = field(default=None, repr=False)
    """Signs callback URLs; default: a key stored in the data folder."""
    makes_webhook_secret: bool = False
    """Whether to create the secret that signs webhooks if the data folder has none."""
    require_keys: bool = False
    """Whether requests need a key, also from this machine; the data folder then has one for the CLI. Other users of the
    machine do not reach Temporal either."""
    worker_metrics_port: int = 0
    """Port of the first worker's /metrics page; the others use the following ports."""
    worker_metrics_host: str = HOST
    encrypts: bool = False
    """Whether what goes through Temporal is encrypted: its web UI then asks the API to decrypt it."""

    @property
    def api_url(self) -> str:
        """Return the API's address on this machine."""
        return f"http://{LOCAL.get(self.api_host, self.api_host)}:{self.api_port}"


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack: its addresses and its processes, each of which can be killed and restarted."""

    http: httpx.AsyncClient
    """HTTP client for the API; paths are relative to it."""
    temporal: TemporalServer
    postgres: PostgresServer
    api: Supervised
    workers: tuple[Supervised, ...]
    environment: Mapping[str, str]
    """The DOCRAIL_* variables with which other commands reach this stack."""
    metrics_urls: tuple[str, ...]
    """The URLs of the workers' metrics pages, in order."""

    @property
    def api_url(self) -> str:
        """Return the API's address, without a trailing slash."""
        return str(self.http.base_url).rstrip("/")

    @property
    def runs_url(self) -> str:
        """Return the address of Temporal's list of runs, without those of schedules; empty: there is no UI."""
        query = quote('WorkflowType="Run"')
        url = f"{self.temporal.ui_url}/namespaces/{NAMESPACE}/workflows?query={query}"
        return url if self.temporal.ui_url else ""

    async def wait_ready(self, *, timeout_seconds: float = READY_SECONDS) -> None:
        """Return when /readyz succeeds: Temporal, PostgreSQL and a polling worker. Raises: TimeoutError."""
        await wait_until(lambda: _is_green(self.http, "/readyz"), timeout_seconds=timeout_seconds)


@asynccontextmanager
async def run_stack(options: StackOptions, report: Report) -> AsyncIterator[Stack]:
    """Start everything, yield when it is ready, drain and stop everything at the end.

    Raises: ProcessError (a port or the folder is taken, or a program does not start), leaving nothing running.
    """
    options = replace(options, data_dir=options.data_dir.expanduser().absolute())
    async with AsyncExitStack() as cleanup:
        cleanup.enter_context(hold(options.data_dir))
        # Check everything that can be refused before starting anything.
        ports = claim_ports(
            {
                "--port": (options.api_port, options.api_host),
                "--temporal-port": (options.temporal_port, HOST),
                "--ui-port": (options.ui_port, HOST),
                **_metrics_ports(options),
            }
        )
        api_port, temporal_port, ui_port, *metrics_ports = ports.values()
        options = replace(options, api_port=api_port, temporal_port=temporal_port, ui_port=ui_port)
        if options.makes_webhook_secret and (made := make_webhook_secret(options.data_dir)):
            report(f"made the secret that signs webhooks: {made}")
        postgres, database_url, temporal = await _start_servers(options, report, cleanup)
        environment = _environment(options, database_url, temporal, options.api_url)
        report("starting the API and " + ("a worker" if options.workers == 1 else f"{options.workers} workers"))
        http = httpx.AsyncClient(base_url=options.api_url, trust_env=False, timeout=10)  # local: no proxy
        await cleanup.enter_async_context(http)
        children = _Children(options, environment, report)
        workers = tuple(children.worker(number, port) for number, port in enumerate(metrics_ports, start=1))
        api = children.api(http)
        cleanup.push_async_callback(_stop_all, (api, *workers))
        for process in (*workers, api):
            await process.start(timeout_seconds=READY_SECONDS)
        metrics_urls = _metrics_urls(options, metrics_ports)
        stack = Stack(http, temporal, postgres, api, workers, environment, metrics_urls)
        await _become_ready(stack, options.data_dir / "logs")
        try:
            yield stack
        finally:
            report("stopping: what runs may end first")


def _metrics_urls(options: StackOptions, ports: Sequence[int]) -> tuple[str, ...]:
    host = LOCAL.get(options.worker_metrics_host, options.worker_metrics_host)
    return tuple(f"http://{host}:{port}/metrics" for port in ports)


def _metrics_ports(options: StackOptions) -> dict[str, tuple[int, str]]:
    """Return the port requested for each worker's metrics, by its name in error messages."""
    first, name = options.worker_metrics_port, "DOCRAIL_WORKER_METRICS_PORT"
    return {
        f"{name} of worker {number + 1}" if number else name: (first and first + number, options.worker_metrics_host)
        for number in range(options.workers)
    }


async def _start_servers(
    options: StackOptions, report: Report, cleanup: AsyncExitStack
) -> tuple[PostgresServer, str, TemporalServer]:
    """Return PostgreSQL, the URL of its database for services, and Temporal."""
    report("starting PostgreSQL")
    postgres = await start_postgres(options.data_dir, report=report)
    cleanup.push_async_callback(postgres.stop)
    applied = await migrate(postgres.dsn)
    report(f"migrated the database: {', '.join(applied)}" if applied else "the database is up to date")
    database_url = await admit_services(postgres)
    await _claim_store(options.data_dir, database_url)
    await _publish(database_url)
    if options.require_keys:
        await _keep_local_key(options.data_dir, database_url, options.api_url)
    report("starting Temporal")
    private = await _private_network(options, report, cleanup) if options.require_keys else None
    host = hidden_host()
    ui_port = 0 if host == HOST else options.ui_port
    temporal = await start_temporal(
        options.data_dir,
        options.temporal_port,
        ui_port,
        report=report,
        ui_host=host,
        codec_endpoint=f"{options.api_url}/v1/codec" if options.encrypts else None,
        private=private,
    )
    cleanup.push_async_callback(temporal.process.stop)
    if private is not None:
        return postgres, database_url, temporal
    guard = await guard_ui(temporal.ui_url, options.ui_port)
    cleanup.callback(guard.close)
    return postgres, database_url, replace(temporal, ui_url=f"http://{HOST}:{options.ui_port}")


async def _private_network(options: StackOptions, report: Report, cleanup: AsyncExitStack) -> PrivateNetwork | None:
    """Return a network for Temporal that other users of this machine do not reach; None if the system has none."""
    if not await allows_private_network():
        report(OPEN_TEMPORAL)
        return None
    home = options.data_dir / "sockets"
    private = PrivateNetwork(socket_folder(home))
    own_folder(private.folder)
    if private.folder != home:
        cleanup.callback(shutil.rmtree, private.folder, ignore_errors=True)
    return private


async def _claim_store(data_dir: Path, dsn: str) -> None:
    """Check once for all processes that will use it. Raises: WrongStore."""
    # local imports: `docrail --help` loads this module too
    from docrail.adapters.postgres.pool import open_pool  # noqa: PLC0415
    from docrail.services.fleet.store_identity import claim_store  # noqa: PLC0415
    from docrail.settings import Settings  # noqa: PLC0415

    pool = await open_pool(dsn, min_size=1, max_size=1)
    try:
        await claim_store(pool, Settings(data_dir=data_dir).open_store())
    finally:
        await pool.close()


async def _publish(dsn: str) -> None:
    # local imports: `docrail --help` loads this module too
    from docrail.activities.registry import load_catalogue  # noqa: PLC0415
    from docrail.services.definitions.service import publish_release  # noqa: PLC0415
    from docrail.settings import Settings  # noqa: PLC0415

    settings = Settings()
    await publish_release(dsn, load_catalogue(settings.handlers), settings.resource_limits, settings.step_defaults)


async def _keep_local_key(data_dir: Path, dsn: str, api_url: str) -> None:
    """Write an admin key for this machine's user, with the address that it is for. The one before ends."""
    from docrail.adapters.postgres.pool import open_pool  # noqa: PLC0415
    from docrail.adapters.postgres.tenants import rows_of  # noqa: PLC0415
    from docrail.services.access.models import local_principal  # noqa: PLC0415
    from docrail.services.access.service import renew_key  # noqa: PLC0415

    who = local_principal()
    pool = await open_pool(dsn, min_size=1, max_size=1, rows=rows_of(who.tenant_id))
    try:
        made = await renew_key(pool, who, read_local_key(data_dir).key_id)
    finally:
        await pool.close()
    write_local_key(data_dir, LocalKey(api_url, made.key))


def _environment(options: StackOptions, database_url: str, temporal: TemporalServer, api_url: str) -> dict[str, str]:
    return {
        "DOCRAIL_TEMPORAL_ADDRESS": temporal.address,
        "DOCRAIL_TEMPORAL_PROXY": temporal.proxy,
        "DOCRAIL_TEMPORAL_NAMESPACE": NAMESPACE,
        "DOCRAIL_TEMPORAL_ENVCONFIG": "false",  # it may be configured for another Temporal, with TLS and a key
        "DOCRAIL_TEMPORAL_UI_URL": temporal.ui_url,
        "DOCRAIL_DATABASE_URL": database_url,
        "DOCRAIL_DATABASE_PASSWORD": "",  # the URL has it
        "DOCRAIL_DATA_DIR": str(options.data_dir),
        "DOCRAIL_API_HOST": options.api_host,
        "DOCRAIL_API_PORT": str(options.api_port),
        "DOCRAIL_ACCESS": "keys" if options.require_keys else "local",
        "DOCRAIL_TLS_CERT": "",  # for `docrail server start`
        "DOCRAIL_TLS_KEY": "",
        "DOCRAIL_PUBLIC_URL": options.public_url or api_url,
        "DOCRAIL_CALLBACK_KEY": options.callback_key or keep_key(options.data_dir),
        # One folder of code is one build: there is no other one for older runs to stay on.
        "DOCRAIL_BUILD_ID": "",
        "DOCRAIL_GRACEFUL_SHUTDOWN_SECONDS": str(options.graceful_shutdown_seconds),
    }


@dataclass(frozen=True, slots=True)
class _Children:
    """Creates Docrail's own programs as children of a stack."""

    options: StackOptions
    environment: Mapping[str, str]
    report: Report

    def worker(self, number: int, metrics_port: int) -> Supervised:
        program = Program(
            f"worker {number}",
            _python("docrail.worker"),
            self._log(f"worker-{number}"),
            {**os.environ, **self.environment, **self._metrics(metrics_port)},
            stop_seconds=self.options.graceful_shutdown_seconds + GRACE_MARGIN_SECONDS,
        )
        return Supervised(program, _always, self.report)  # /readyz checks whether it polls

    def api(self, http: httpx.AsyncClient) -> Supervised:
        environment = {**os.environ, **self.environment}
        program = Program(
            "the API",
            _python("docrail", "server", "start"),
            self._log("api"),
            environment,
            stop_seconds=API_STOP_SECONDS,
        )
        return Supervised(program, lambda: _is_green(http, "/healthz"), self.report)

    def _metrics(self, port: int) -> dict[str, str]:
        return {
            "DOCRAIL_WORKER_METRICS_PORT": str(port),
            "DOCRAIL_WORKER_METRICS_HOST": self.options.worker_metrics_host,
        }

    def _log(self, name: str) -> Path:
        return self.options.data_dir / "logs" / f"{name}.log"


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    # -P: a module of the same name in the current folder must not be imported instead.
    return (sys.executable, "-P", "-m", module, *arguments)


async def _stop_all(processes: Sequence[Supervised]) -> None:
    await asyncio.gather(*(process.stop() for process in processes))


async def _become_ready(stack: Stack, logs: Path) -> None:
    try:
        await stack.wait_ready()
    except TimeoutError:
        answer = await _answer(stack.http, "/readyz")
        raise ProcessError(
            f"the API does not become ready: its /readyz answers {answer}. The logs are in {logs}"
        ) from None


async def _is_green(http: httpx.AsyncClient, path: str) -> bool:
    return (await _answer(http, path)).startswith("200 ")


async def _answer(http: httpx.AsyncClient, path: str) -> str:
    try:
        response = await http.get(path)
    except httpx.HTTPError as error:
        return f"nothing ({type(error).__name__})"
    return f"{response.status_code} {response.text}"


async def _always() -> bool:
    return True
