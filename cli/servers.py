"""`docrail up`, `docrail worker` and `docrail server`: start every server on this machine, or parts of a fleet."""

import asyncio
import gc
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from docrail.adapters.logs import configure_logs
from docrail.adapters.postgres.migrate import migrate as apply_migrations
from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.adapters.temporal.connection import Connection, find_connection
from docrail.cli.catalogue import all_handlers
from docrail.cli.database import unreachable
from docrail.cli.stop import run_until_stopped
from docrail.cli.terminal import AsJson, complain, print_json, say
from docrail.embedded.claims import claim_port
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.definitions.service import publish_release
from docrail.services.engine import temporal_unreachable
from docrail.services.errors import Unavailable
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.limits.service import apply_limits, line_of
from docrail.services.maintenance.service import apply_background_schedule, apply_schedule, apply_sla_schedule

LAST_PORT = 65_535

DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps everything; made if missing. [DOCRAIL_DATA_DIR, else ./var]", metavar="DIR"),
]
Started = Annotated[bool, typer.Option("--json", help="Print the address as JSON; the log goes to stderr.")]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was changed in a namespace of Temporal, in lines."""

    namespace: str
    lines: Sequence[str]


def _port(help_: str) -> Any:
    return typer.Option(min=0, max=LAST_PORT, help=help_, metavar="N")


def up(
    context: typer.Context,
    data: DataFolder = None,
    port: Annotated[int | None, _port("The API's port; 0 takes a free one. [DOCRAIL_API_PORT, else 8000]")] = None,
    temporal_port: Annotated[int, _port("Temporal's port; 0 takes a free one.")] = 7233,
    ui_port: Annotated[int, _port("Temporal's web UI's port; 0 takes a free one.")] = 8233,
    workers: Annotated[int, typer.Option(min=1, help="How many worker processes to run.", metavar="N")] = 1,
    require_keys: Annotated[bool, typer.Option("--require-keys", help="Refuse requests without an API key.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as JSON when ready; progress goes to stderr.")
    ] = False,
) -> None:
    """Start Temporal, PostgreSQL, the API and a worker.

    Only this machine reaches the API, and all of its users may do everything. On a machine that others use too, give
    --require-keys: commands of your own find the key in the data folder.

    They run until Ctrl-C, which lets running activities finish; a second Ctrl-C does not. The data is kept: the next
    start in the same folder finds it.

    Exit codes: 0 stopped by Ctrl-C, 1 something did not start, 2 wrong usage.

    Example: docrail up --data /srv/docrail --port 8080 --workers 2
    """
    settings = context.obj()
    if not require_keys:
        _check_may_be_open(settings)
    configure_logs(**settings.log_options)
    options = replace(
        _options(settings),
        data_dir=data or settings.data_dir,
        api_port=settings.api_port if port is None else port,
        temporal_port=temporal_port,
        ui_port=ui_port,
        workers=workers,
        require_keys=require_keys,
    )
    run_until_stopped(lambda: _up(options, settings, as_json=as_json))


def _check_may_be_open(settings: Any) -> None:
    """End the command if the settings ask for more than this machine's users without keys. Raises: SystemExit."""
    from docrail.settings import is_loopback, refused_host

    if not is_loopback(settings.api_host):
        raise SystemExit(f"DOCRAIL_API_HOST: {refused_host(settings.api_host)}")
    if settings.profile == "prod":
        raise SystemExit("the profile `prod` serves no one without a key: give `docrail up` the option --require-keys")


def _options(settings: Any) -> StackOptions:
    return StackOptions(
        data_dir=settings.data_dir,
        api_host=settings.api_host,
        graceful_shutdown_seconds=settings.graceful_shutdown_seconds,
        public_url=settings.public_url,
        callback_key=settings.callback_key.get_secret_value() if settings.callback_key else None,
        worker_metrics_port=settings.worker_metrics_port,
        worker_metrics_host=settings.worker_metrics_host,
        encrypts=settings.payload_keys is not None,
        makes_webhook_secret=settings.secrets_dir is None,  # a folder of the operator's own is left alone
    )


def start_worker(context: typer.Context, as_json: Started = False) -> None:
    """Run a worker against the servers of the settings.

    It runs until SIGTERM or Ctrl-C; running activities may finish.

    Exit codes: 0 stopped, 1 it could not start, 2 wrong usage.

    Example: DOCRAIL_TEMPORAL_ADDRESS=temporal:7233 docrail worker start
    """
    from docrail import worker

    if as_json:
        settings = context.obj()
        print_json({"temporal_address": settings.temporal_address, "task_queue": settings.task_queue})
    worker.main()


def start_api(
    tls_cert: Annotated[
        Path | None, typer.Option(help="Certificate chain in PEM: serve HTTPS. [DOCRAIL_TLS_CERT]", metavar="FILE")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="The certificate's private key in PEM. [DOCRAIL_TLS_KEY]", metavar="FILE")
    ] = None,
    trusted_proxies: Annotated[
        str | None, typer.Option(help="Proxies whose X-Forwarded-* are used. [DOCRAIL_TRUSTED_PROXIES]", metavar="IPS")
    ] = None,
    as_json: Started = False,
) -> None:
    """Serve the HTTP API against the servers of the settings.

    It listens on DOCRAIL_API_HOST:DOCRAIL_API_PORT until SIGTERM or Ctrl-C. docs/howto/network.md shows how to let
    others reach it.

    Exit codes: 0 stopped, 1 it could not start, 2 wrong usage.

    Example: docrail server start --tls-cert docrail.pem --tls-key docrail.key
    """
    gc.disable()  # until api/app.py settles: collecting while modules load takes a tenth of the time to start
    from docrail.api.app import create_app
    from docrail.api.server import CertificateError, serve
    from docrail.settings import Settings

    given: dict[str, Any] = {"tls_cert": tls_cert, "tls_key": tls_key, "trusted_proxies": trusted_proxies}
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    configure_logs(**settings.log_options, is_bounded=True)
    if settings.api_port:  # else the error would be asyncio's
        claim_port(settings.api_port, "DOCRAIL_API_PORT", settings.api_host)
    if as_json:
        scheme = "https" if settings.tls_cert else "http"
        print_json({"api_url": f"{scheme}://{settings.api_host}:{settings.api_port}"})
    os.umask(0o077)  # documents are no one else's to read
    try:
        serve(create_app(settings), settings)
    except CertificateError as error:
        raise SystemExit(str(error)) from None


def migrate(context: typer.Context, as_json: AsJson = False) -> None:
    """Prepare the database and Temporal for this code.

    Brings the database of DOCRAIL_DATABASE_URL to the schema that this code expects, and registers the search
    attributes of runs in the namespace DOCRAIL_TEMPORAL_NAMESPACE at DOCRAIL_TEMPORAL_ADDRESS, or of Temporal's own
    configuration. There it also sets the limits of DOCRAIL_RESOURCE_LIMITS that no one has changed since, and the
    schedule of DOCRAIL_MAINTENANCE_SCHEDULE. The shipped definitions are published for the default tenant. Safe to
    repeat, and to run by several at once.

    Example: DOCRAIL_DATABASE_URL=postgresql://docrail@db/docrail docrail server migrate
    """
    settings = context.obj()
    configure_logs(**settings.log_options)
    report = _no_report if as_json else say
    try:
        applied = asyncio.run(apply_migrations(settings.database_url))
        asyncio.run(
            publish_release(settings.database_url, all_handlers(), settings.resource_limits, settings.step_defaults)
        )
    except (OSError, *DATABASE_ERRORS) as error:
        raise SystemExit(unreachable(error)) from None
    report("\n".join([*(f"applied {name}" for name in applied), "the database is up to date"]))
    connection = settings.temporal_connection()
    try:
        prepared = asyncio.run(_prepare(connection, settings))
    except Unavailable as error:
        raise SystemExit(temporal_unreachable(error, connection)) from None
    report("\n".join([*prepared.lines, f"Temporal's namespace {prepared.namespace!r} is up to date"]))
    if as_json:
        print_json({"migrations": applied, "namespace": prepared.namespace, "changes": list(prepared.lines)})


def addresses(stack: Stack, data_dir: Path) -> list[str]:
    """Return the lines that show a person where everything is."""
    return [
        f"  Console      {stack.api_url}",
        f"  API          {stack.api_url}/v1  (what it offers: {stack.api_url}/docs)",
        *([f"  Temporal UI  {stack.runs_url}"] if stack.runs_url else []),
        f"  Temporal     {stack.temporal.proxy or stack.temporal.address}",
        f"  PostgreSQL   {stack.environment['DOCRAIL_DATABASE_URL']}",
        *(f"  Metrics      {url}" for url in stack.metrics_urls),
        f"  Data, logs   {data_dir.absolute()}",
        "Ctrl-C stops it.",
    ]


async def _up(options: StackOptions, settings: Any, *, as_json: bool) -> None:
    report = complain if as_json else say
    async with run_stack(options, report) as stack:
        at, namespace = (stack.environment[f"DOCRAIL_TEMPORAL_{name}"] for name in ("ADDRESS", "NAMESPACE"))
        connection = find_connection(
            at, namespace, envconfig=False, keys=settings.encryption, proxy=stack.temporal.proxy
        )
        prepared = await _prepare(connection, settings)
        for line in prepared.lines:
            report(line)
        if as_json:
            print_json(addresses_as_json(stack, options.data_dir))
        else:
            say("\n".join(["", "Docrail is ready.", *addresses(stack, options.data_dir)]))
        await asyncio.get_running_loop().create_future()  # until the task is cancelled


def addresses_as_json(stack: Stack, data_dir: Path) -> dict[str, str]:
    """Return where everything is, for programs."""
    return {
        "api_url": stack.api_url,
        "temporal_ui_url": stack.temporal.ui_url,
        "temporal_address": stack.temporal.address,
        "temporal_proxy": stack.temporal.proxy,
        "database_url": stack.environment["DOCRAIL_DATABASE_URL"],
        "data_dir": str(data_dir.absolute()),
    }


async def _prepare(connection: Connection, settings: Any) -> Prepared:
    """Register search attributes, apply the settings' limits of resources and the schedules."""
    prepared = await prepare_namespace(connection)
    registered = [f"registered the search attribute {name}" for name in prepared.registered]
    applied = await apply_limits(connection, settings.task_queue, settings.resource_limits)
    scheduled = await apply_schedule(connection, settings.task_queue, settings.maintenance_schedule)
    watched = await apply_sla_schedule(connection, settings.task_queue)
    tasks = await apply_background_schedule(connection, settings.task_queue)
    changed = filter(None, [*map(line_of, applied), scheduled, watched, tasks])
    return Prepared(prepared.namespace, [*registered, *changed])


def _no_report(_: str) -> None:
    """Print nothing."""
