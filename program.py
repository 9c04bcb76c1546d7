"""Root: the commands. Each reads the settings, hands over values, and says in plain words what went wrong."""

import asyncio
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
from pydantic import ValidationError

from commands.answers import answer
from commands.audit import audit
from commands.calibrating import calibrate
from commands.client import ApiError
from commands.database import unreachable
from commands.dead_letters import dead_letters
from commands.definitions import plan, validate
from commands.demo import demo
from commands.deploy import deploy
from commands.diffs import diff
from commands.explain import explain
from commands.extracting import extract
from commands.fake_gemini import HELP as FAKE_GEMINI_HELP
from commands.fake_gemini import fake_gemini
from commands.handlers import handlers
from commands.lake import HELP as QUERY_HELP
from commands.lake import LAKE, query
from commands.limits import limits
from commands.outputs import output
from commands.registry import definitions, rollback
from commands.retrying import retry
from commands.review_fields import review_fields
from commands.review_work import review_work
from commands.reviews import reviews
from commands.routing import routing
from commands.run_lists import runs
from commands.runs import run
from commands.schema import schema
from commands.speaking import addresses, complain, say
from commands.stopping import INTERRUPTED, run_until_stopped
from commands.trials import run_tests
from embedded.claims import claim_port
from embedded.processes import ProcessError
from embedded.stack import StackOptions, run_stack
from operations.errors import OperationError, Unavailable
from settings import Settings
from storage.db import DATABASE_ERRORS, StorageError
from storage.migrate import migrate as apply_migrations

app = typer.Typer(
    name="docrail",
    help="Durable document workflows. `docrail up` starts everything on this machine.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "obj": Settings},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes break lines that people copy
    epilog="Every command reads the DOCRAIL_* environment variables; the options say which ones they stand for.",
)

LAST_PORT = 65_535

API_GRACE_SECONDS = 10
"""How long requests that are being answered may take when the API is told to stop."""


def _port(told: str) -> Any:
    return typer.Option(min=0, max=LAST_PORT, help=told, metavar="N")


for command in (
    demo,
    extract,
    calibrate,
    validate,
    plan,
    diff,
    schema,
    run,
    runs,
    retry,
    explain,
    output,
    answer,
    rollback,
    handlers,
    deploy,
    *LAKE,
):
    app.command()(command)

app.command("test")(run_tests)
app.command(help=QUERY_HELP)(query)
app.command("fake-gemini", help=FAKE_GEMINI_HELP)(fake_gemini)

for acts in (review_work, review_fields):
    reviews.add_typer(acts)

for group in (definitions, routing, reviews, audit, limits, dead_letters):
    app.add_typer(group)


@app.command()
def up(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps everything; made if missing. [DOCRAIL_DATA_DIR, else ./var]", metavar="DIR"
        ),
    ] = None,
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
    settings = Settings()
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
    )
    run_until_stopped(lambda: _up(options, settings))


@app.command()
def worker() -> None:
    """Run a worker against the servers of the settings.

    It runs until SIGTERM or Ctrl-C; running activities may finish.

    Example: DOCRAIL_TEMPORAL_ADDRESS=temporal:7233 docrail worker
    """
    _root("worker").main()


@app.command()
def api() -> None:
    """Serve the HTTP API against the servers of the settings.

    It listens on DOCRAIL_API_HOST:DOCRAIL_API_PORT until SIGTERM or Ctrl-C.

    Example: DOCRAIL_API_PORT=8080 docrail api
    """
    settings = Settings()
    if settings.api_port:
        claim_port(settings.api_port, "DOCRAIL_API_PORT", settings.api_host)  # uvicorn would end in a log of five lines
    uvicorn.run(
        _root("api.app").create_app(settings),
        host=settings.api_host,
        port=settings.api_port,
        access_log=False,  # /metrics counts requests
        timeout_graceful_shutdown=API_GRACE_SECONDS,
    )


@app.command()
def migrate() -> None:
    """Prepare the database and Temporal for this code.

    Brings the database of DOCRAIL_DATABASE_URL to the schema that this code expects, and registers the search
    attributes of runs in the namespace DOCRAIL_TEMPORAL_NAMESPACE at DOCRAIL_TEMPORAL_ADDRESS, or where Temporal's own
    configuration says. There it also sets the limits of DOCRAIL_RESOURCE_LIMITS that nobody has changed since, and the
    schedule of DOCRAIL_MAINTENANCE_SCHEDULE. Safe to repeat, and to run by several at once.

    Example: DOCRAIL_DATABASE_URL=postgresql://docrail@db/docrail docrail migrate
    """
    settings = Settings()
    try:
        applied = asyncio.run(apply_migrations(settings.database_url))
    except (OSError, *DATABASE_ERRORS) as error:
        raise SystemExit(unreachable(error)) from None
    for name in applied:
        say(f"applied {name}")
    say("the database is up to date")
    connection = _connection(settings)
    try:
        prepared = asyncio.run(_root("operations.namespace").prepare_namespace(connection))
        arranged = asyncio.run(_arrange(connection, settings))
    except Unavailable as error:
        raise SystemExit(_root("operations.connection").told_away(error, connection)) from None
    for name in prepared.registered:
        say(f"registered the search attribute {name}")
    for line in arranged:
        say(line)
    say(f"Temporal's namespace {prepared.namespace!r} is up to date")


async def _up(options: StackOptions, settings: Settings) -> None:
    async with run_stack(options, say) as stack:
        at, namespace = (stack.environment[f"DOCRAIL_TEMPORAL_{name}"] for name in ("ADDRESS", "NAMESPACE"))
        connection = _root("operations.connection").find_connection(at, namespace, envconfig=False)
        prepared = await _root("operations.namespace").prepare_namespace(connection)  # an older release made fewer
        told = [f"registered the search attribute {name}" for name in prepared.registered]
        for line in (*told, *await _arrange(connection, settings)):
            say(line)
        say("\n".join(["", "Docrail is ready.", *addresses(stack, options.data_dir)]))
        await asyncio.get_running_loop().create_future()  # until the task is cancelled


async def _arrange(connection: Any, settings: Settings) -> list[str]:
    """Apply the settings' limits of resources and the schedules, and return what to say of them."""
    rate_limits, maintenance = _root("operations.rate_limits"), _root("operations.maintenance")
    applied = await rate_limits.apply_limits(connection, settings.task_queue, settings.resource_limits)
    scheduled = await maintenance.apply_schedule(connection, settings.task_queue, settings.maintenance_schedule)
    watched = await _root("operations.sla_schedule").apply_sla_schedule(connection, settings.task_queue)
    return list(filter(None, [*map(rate_limits.told, applied), scheduled, watched]))


def _connection(settings: Settings) -> Any:
    return _root("operations.connection").find_connection(
        settings.temporal_address, settings.temporal_namespace, envconfig=settings.temporal_envconfig
    )


def _root(module: str) -> Any:
    """Load a module by name: roots do not import each other, and a command loads only what it needs."""
    return importlib.import_module(module)


def _run() -> int:
    try:
        app()
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        message = end.code
    except ValidationError as error:
        message = "\n".join(_problem(problem["loc"], problem["msg"]) for problem in error.errors())
    except DATABASE_ERRORS as error:
        message = f"the database of DOCRAIL_DATABASE_URL: {error}"
    except (ApiError, OperationError, ProcessError, StorageError, OSError) as error:
        message = str(error)
    else:
        return 0
    complain(message)
    return 1


def _problem(place: Sequence[int | str], message: str) -> str:
    """Return what is wrong with a setting, without pydantic's word for what our own checks raise."""
    return f"DOCRAIL_{str(place[0]).upper()}: {message.removeprefix('Value error, ')}"


def _prepare() -> None:
    """Make sure that neither Ctrl-C nor a character that the terminal cannot show ends us with a traceback."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(INTERRUPTED))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def main() -> None:
    """Run the command that the arguments name, and end the process with its code."""
    _prepare()
    code = _run()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed by whoever started us
        with suppress(OSError):  # nobody reads it any more
            stream.flush()
    # Temporal's core may abort the interpreter's own exit (sdk-python issue 300); everything is closed by now.
    os._exit(code)
