"""`docrail up` and `docrail migrate`: start every server on this machine, or prepare those that run elsewhere."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from commands.database import unreachable
from commands.speaking import addresses, say
from commands.stopping import run_until_stopped
from embedded.stack import StackOptions, run_stack
from operations.errors import Unavailable
from storage.db import DATABASE_ERRORS
from storage.migrate import migrate as apply_migrations

LAST_PORT = 65_535

DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps everything; made if missing. [DOCRAIL_DATA_DIR, else ./var]", metavar="DIR"),
]


def _port(told: str) -> Any:
    return typer.Option(min=0, max=LAST_PORT, help=told, metavar="N")


def up(
    context: typer.Context,
    data: DataFolder = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=LAST_PORT, help="The API's port; 0 takes a free one. [DOCRAIL_API_PORT, else 8000]", metavar="N"
        ),
    ] = None,
    temporal_port: Annotated[int, _port("Temporal's port; 0 takes a free one.")] = 7233,
    ui_port: Annotated[int, _port("Temporal's web UI's port; 0 takes a free one.")] = 8233,
    workers: Annotated[int, typer.Option(min=1, help="How many worker processes to run.", metavar="N")] = 1,
) -> None:
    """Start Temporal, PostgreSQL, the API and a worker.

    They run until Ctrl-C, which lets running activities finish; a second Ctrl-C does not. The data is kept: the next
    start in the same folder finds it.

    Exit codes: 0 stopped by Ctrl-C, 1 something did not start, 2 wrong usage.

    Example: docrail up --data /srv/docrail --port 8080 --workers 2
    """
    settings = context.obj()
    options = StackOptions(
        data_dir=data or settings.data_dir,
        api_host=settings.api_host,
        api_port=settings.api_port if port is None else port,
        temporal_port=temporal_port,
        ui_port=ui_port,
        workers=workers,
        graceful_shutdown_seconds=settings.graceful_shutdown_seconds,
        public_url=settings.public_url,
        callback_key=settings.callback_key.get_secret_value() if settings.callback_key else None,
        worker_metrics_port=settings.worker_metrics_port,
        worker_metrics_host=settings.worker_metrics_host,
        makes_webhook_secret=settings.secrets_dir is None,  # a folder of the operator's own is left alone
    )
    run_until_stopped(lambda: _up(options, settings))


def migrate(context: typer.Context) -> None:
    """Prepare the database and Temporal for this code.

    Brings the database of DOCRAIL_DATABASE_URL to the schema that this code expects, and registers the search
    attributes of runs in the namespace DOCRAIL_TEMPORAL_NAMESPACE at DOCRAIL_TEMPORAL_ADDRESS, or where Temporal's own
    configuration says. There it also sets the limits of DOCRAIL_RESOURCE_LIMITS that nobody has changed since, and the
    schedule of DOCRAIL_MAINTENANCE_SCHEDULE. The shipped definitions are published for the default tenant. Safe to
    repeat, and to run by several at once.

    Example: DOCRAIL_DATABASE_URL=postgresql://docrail@db/docrail docrail migrate
    """
    settings = context.obj()
    publish_release = import_module("operations.definitions").publish_release
    try:
        applied = asyncio.run(apply_migrations(settings.database_url))
        asyncio.run(publish_release(settings.database_url, settings.resource_limits))
    except (OSError, *DATABASE_ERRORS) as error:
        raise SystemExit(unreachable(error)) from None
    for name in applied:
        say(f"applied {name}")
    say("the database is up to date")
    connection = _connection(settings)
    try:
        prepared = asyncio.run(import_module("operations.namespace").prepare_namespace(connection))
        arranged = asyncio.run(_arrange(connection, settings))
    except Unavailable as error:
        raise SystemExit(import_module("operations.connection").told_away(error, connection)) from None
    for name in prepared.registered:
        say(f"registered the search attribute {name}")
    for line in arranged:
        say(line)
    say(f"Temporal's namespace {prepared.namespace!r} is up to date")


async def _up(options: StackOptions, settings: Any) -> None:
    async with run_stack(options, say) as stack:
        at, namespace = (stack.environment[f"DOCRAIL_TEMPORAL_{name}"] for name in ("ADDRESS", "NAMESPACE"))
        connection = import_module("operations.connection").find_connection(at, namespace, envconfig=False)
        prepared = await import_module("operations.namespace").prepare_namespace(
            connection
        )  # an older release made fewer
        told = [f"registered the search attribute {name}" for name in prepared.registered]
        for line in (*told, *await _arrange(connection, settings)):
            say(line)
        say("\n".join(["", "Docrail is ready.", *addresses(stack, options.data_dir)]))
        await asyncio.get_running_loop().create_future()  # until the task is cancelled


async def _arrange(connection: Any, settings: Any) -> list[str]:
    """Apply the settings' limits of resources and the schedules, and return what to say of them."""
    rate_limits, maintenance = import_module("operations.rate_limits"), import_module("operations.maintenance")
    applied = await rate_limits.apply_limits(connection, settings.task_queue, settings.resource_limits)
    scheduled = await maintenance.apply_schedule(connection, settings.task_queue, settings.maintenance_schedule)
    watched = await import_module("operations.sla_schedule").apply_sla_schedule(connection, settings.task_queue)
    tasks = await import_module("operations.sla_schedule").apply_background_schedule(connection, settings.task_queue)
    return list(filter(None, [*map(rate_limits.told, applied), scheduled, watched, tasks]))


def _connection(settings: Any) -> Any:
    return import_module("operations.connection").find_connection(
        settings.temporal_address, settings.temporal_namespace, envconfig=settings.temporal_envconfig
    )
