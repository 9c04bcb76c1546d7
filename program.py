"""Root: the commands. Each reads the settings, hands over values, and says in plain words what went wrong."""

import importlib
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import typer

COMMANDS: Mapping[str, str] = {
    "demo": "commands.demo:demo",
    "extract": "commands.extracting:extract",
    "calibrate": "commands.calibrating:calibrate",
    "validate": "commands.definitions:validate",
    "plan": "commands.definitions:plan",
    "diff": "commands.diffs:diff",
    "schema": "commands.schema:schema",
    "run": "commands.runs:run",
    "runs": "commands.run_lists:runs",
    "pause": "commands.run_control:pause",
    "resume": "commands.run_control:resume",
    "abort": "commands.run_control:abort",
    "retry": "commands.retrying:retry",
    "explain": "commands.explain:explain",
    "actions": "commands.actions:actions",
    "waits": "commands.waits:waits",
    "output": "commands.outputs:output",
    "answer": "commands.answers:answer",
    "rollback": "commands.registry:rollback",
    "handlers": "commands.handlers:handlers",
    "deploy": "commands.deploy:deploy",
    "compact": "commands.lake:compact",
    "export-gold": "commands.gold:export_gold",
    "test": "commands.trials:run_tests",
    "query": "commands.lake:query",
    "fake-gemini": "commands.fake_gemini:fake_gemini",
    "up": "commands.servers:up",
    "worker": "program:worker",
    "api": "program:api",
    "migrate": "commands.servers:migrate",
    "definitions": "commands.registry:definitions",
    "routing": "commands.routing:routing",
    "reviews": "commands.reviewing:reviews",
    "audit": "commands.audit:audit",
    "limits": "commands.limits:limits",
    "dead-letters": "commands.dead_letters:dead_letters",
}
"""The commands in the order of the help, and where each is: some load in a second what the others do not need."""

API_GRACE_SECONDS = 10
"""How long requests that are being answered may take when the API is told to stop."""


def read_settings() -> Any:
    """Return the settings of the environment. Raises: ValidationError if one is wrong."""
    return _load("settings").Settings()


def assemble(word: str = "") -> typer.Typer:
    """Return the program; if `word` is a command's name, with this one only."""
    app = typer.Typer(
        name="docrail",
        help="Durable document workflows. `docrail up` starts everything on this machine.",
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"], "obj": read_settings},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes break lines that people copy
        epilog="Every command reads the DOCRAIL_* environment variables; the options say which ones they stand for.",
    )
    app.callback()(lambda: None)  # without one, a program of one command is that command
    for name in (word,) if word in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        command = getattr(_load(module), function)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command(name)(command)
    return app


def worker() -> None:
    """Run a worker against the servers of the settings.

    It runs until SIGTERM or Ctrl-C; running activities may finish.

    Example: DOCRAIL_TEMPORAL_ADDRESS=temporal:7233 docrail worker
    """
    _load("worker").main()


def api() -> None:
    """Serve the HTTP API against the servers of the settings.

    It listens on DOCRAIL_API_HOST:DOCRAIL_API_PORT until SIGTERM or Ctrl-C.

    Example: DOCRAIL_API_PORT=8080 docrail api
    """
    settings = read_settings()
    if settings.api_port:  # uvicorn would end in a log of five lines
        _load("embedded.claims").claim_port(settings.api_port, "DOCRAIL_API_PORT", settings.api_host)
    _load("uvicorn").run(
        _load("api.app").create_app(settings),
        host=settings.api_host,
        port=settings.api_port,
        access_log=False,  # /metrics counts requests
        timeout_graceful_shutdown=API_GRACE_SECONDS,
    )


def _load(module: str) -> Any:
    """Load a module by name: roots do not import each other, and a command loads only what it needs."""
    return importlib.import_module(module)


def _warn() -> None:
    """Say which variables are no settings. Reading the settings' names takes a while, so only if there are any."""
    if any(name.upper().startswith("DOCRAIL_") for name in os.environ):
        for line in _load("settings").unread_variables(os.environ):
            print(f"docrail: {line}", file=sys.stderr, flush=True)


def _run() -> int:
    _warn()
    try:
        assemble("".join(sys.argv[1:2]))()
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        message: str | None = end.code
    except Exception as error:
        message = _load("commands.failing").told(error)
        if message is None:
            raise
    else:
        return 0
    print(f"docrail: {message}", file=sys.stderr, flush=True)
    return 1


def _prepare() -> None:
    """Make sure that neither Ctrl-C nor a character that the terminal cannot show ends us with a traceback."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(128 + signal.SIGINT))
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
