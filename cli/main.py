"""The tree of commands: nouns and their verbs. A command's module is loaded when the command runs.

In one file because the tree is read as one list.
"""

import importlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

Place = tuple[str, str]
"""Where a command is, as module:function of this package, and its first line of help, which a list shows without
loading it."""

SHORTCUTS: Mapping[str, Place] = {
    "up": ("servers:up", "Start Temporal, PostgreSQL, the API and a worker."),
    "demo": ("demo:demo", "Read the sample invoices through the whole system."),
    "extract": ("extract:extract", "Read documents and print their fields; needs no server."),
    "validate": ("definitions:validate", "Check definitions and print every problem in them."),
    "test": ("definition_tests:run_tests", "Run the tests in a definition's file; needs no server."),
}

ALONE: Mapping[str, Place] = {
    "settings": ("settings:show", "List the settings with their values and sources."),
    "backup": ("backup:back_up", "Write a backup of the data of `docrail up` to one file."),
    "restore": ("backup:restore", "Restore a backup in an empty folder, for `docrail up`."),
}
"""Nouns with one command."""

NOUNS: Mapping[str, tuple[str, Mapping[str, Place]]] = {
    "document": (
        "Upload documents, list them, read them.",
        {
            "list": ("documents:list_documents", "List documents, latest upload first."),
            "upload": ("documents:upload", "Upload documents; each starts a run."),
            "show": ("documents:show", "Show a document."),
            "send-again": ("documents:send_again", "Try a failed document again."),
            "dismiss": ("documents:dismiss", "Set the failures of a document aside."),
            "extract": SHORTCUTS["extract"],
        },
    ),
    "batch": (
        "Run thousands of documents, follow them, fetch their result.",
        {
            "run": ("batch_run:run", "Send many documents as a batch, and follow it."),
            "list": ("batches:list_batches", "List batches, newest first."),
            "show": ("batches:show", "Show a batch: states, time left, errors."),
            "documents": ("batches:documents", "List the documents of a batch, in their order."),
            "result": ("batches:result", "Write the result of a batch to a file."),
            "pause": ("batches:pause", "Start no more runs of a batch; open ones go on."),
            "resume": ("batches:resume", "Start runs of a paused batch again."),
            "cancel": ("batches:cancel", "Start no more runs of a batch, and cancel the open ones."),
            "retry": ("batches:retry", "Try the failed documents of a batch again."),
        },
    ),
    "run": (
        "Start runs and follow them; `docrail run FILE` starts one.",
        {
            "start": ("run_start:start", "Start a run of a definition."),
            "list": ("runs:list_runs", "List runs, newest first."),
            "show": ("run_views:show", "Show a run: its steps, its outputs and its history."),
            "explain": ("run_views:explain", "Explain why a run and its steps are as they are."),
            "waits": ("run_views:waits", "List what a run waits for."),
            "output": ("run_views:output", "Print a step's output, or a run's outputs, as JSON."),
            "history": ("run_views:history", "Show what people did to a run, newest first."),
            "answer": ("answer:answer", "Answer a step that waits."),
            "pause": ("runs:pause", "Pause a run: its next steps do not start."),
            "resume": ("runs:resume", "Resume a paused run."),
            "abort": ("runs:abort", "End a run early, as aborted."),
            "cancel": ("runs:cancel", "Cancel a run: unlike an aborted one, it can be retried."),
            "retry": ("retry:retry", "Start an ended run again where it failed, or from a step."),
        },
    ),
    "definition": (
        "Check definitions, publish them, choose which version new runs get.",
        {
            "validate": SHORTCUTS["validate"],
            "test": SHORTCUTS["test"],
            "plan": ("plan:plan", "Show a definition's layers, its critical path and its graph."),
            "schema": ("definitions:schema", "Print the JSON Schema of a definition, for editors."),
            "diff": ("diff:diff", "Show how two versions of a definition differ."),
            "publish": ("published:publish", "Publish definitions, each as its next version."),
            "list": ("published:list_definitions", "List definitions with their versions and aliases."),
            "show": ("published:show", "Show a version of a definition and list the others."),
            "alias": ("published:alias", "Point an alias at a version, or remove it."),
            "rollback": ("published:rollback", "Undo the last change of what new runs get."),
            "history": ("published:history", "Show who moved a definition's aliases, when and why."),
        },
    ),
    "handler": (
        "Look up what a step's `handler` may name.",
        {
            "list": ("handlers:list_all", "List the handlers."),
            "show": ("handlers:show", "Show a handler's config and output."),
        },
    ),
    "routing": (
        "Choose which definition a new document takes.",
        {
            "show": ("routing:show", "Show the rules in force."),
            "validate": ("routing:validate", "Check a file of rules and print every problem in it."),
            "set": ("routing:put", "Apply a file of rules."),
            "try": ("routing:attempt", "Show which definition a document would take."),
        },
    ),
    "review": (
        "Review what waits for a person, and decide it.",
        {
            "list": ("reviews:list_reviews", "List review items, most urgent first."),
            "show": ("reviews:show", "Show an item: its content, and what may be decided."),
            "next": ("review_work:take_next", "Claim the most urgent item that is free."),
            "claim": ("review_work:claim", "Claim an item, for 15 minutes."),
            "release": ("review_work:release", "Give an item back to the queue."),
            "assign": ("review_work:assign", "Assign an item to one person."),
            "postpone": ("review_work:postpone", "Hide an item until a time. Its SLA clock keeps running."),
            "decide": ("reviews:decide", "Decide what a human step asks."),
            "approve": ("review_work:approve", "Approve a document as it is now."),
            "approve-all": ("review_work:approve_all", "Approve the waiting documents without problems."),
            "reject": ("review_work:reject", "Reject a document."),
            "reopen": ("review_work:reopen", "Open a decided document again."),
            "fields": ("review_fields:fields", "Show a document's fields and their problems."),
            "explain": ("review_fields:explain", "Explain a field's confidence, or the item's priority."),
            "correct": ("review_fields:correct", "Lock fields to the right values."),
            "unlock": ("review_fields:unlock", "Unlock a field: it gets the value that was read."),
            "undo": ("review_fields:undo", "Take back your last change to a document's fields."),
            "read-again": ("review_fields:read_again", "Read a document again with today's readers."),
            "history": ("review_fields:history", "Show what people did to an item, oldest first."),
            "export": ("gold:export", "Export what people approved and corrected."),
        },
    ),
    "export": (
        "Export approved documents, and fetch earlier exports again.",
        {
            "create": ("exports:create", "Export approved documents to a file, or to a webhook."),
            "list": ("exports:list_exports", "List exports, newest first."),
            "download": ("exports:download", "Download the file of an export again."),
        },
    ),
    "failure": (
        "Deal with steps that failed for good.",
        {
            "list": ("failures:list_failures", "List failed steps, newest first."),
            "count": ("failures:count", "Count failed steps by the class of their error."),
            "show": ("failures:show", "Show a failed step, and what was done about it."),
            "retry": ("failures:retry", "Try a failed step again, or many."),
            "skip": ("failures:skip", "Go on without a failed step."),
            "complete": ("failures:complete", "Go on as if a failed step had this output."),
            "abort": ("failures:abort", "End the run of a failed step."),
            "dismiss": ("failures:dismiss", "Take a failed step out of the list; its run stays as it is."),
        },
    ),
    "lake": (
        "Query what was extracted, and keep it fast.",
        {
            "query": ("lake:query", "Ask the lake with SQL, in DuckDB's dialect."),
            "compact": ("lake:compact", "Compact the lake and delete what is too old, now."),
        },
    ),
    "calibration": (
        "Calibrate the confidence of readings.",
        {
            "list": ("calibrate:list_versions", "List the calibrations, and which one is in use."),
            "fit": ("calibrate:fit_anew", "Fit a calibration on what is known to be right."),
            "set": ("calibrate:choose", "Use an earlier calibration again."),
        },
    ),
    "limit": (
        "See and change how often the fleet may use a resource.",
        {
            "list": ("limits:list_limits", "List the limited resources."),
            "set": ("limits:change", "Change a resource's limit while work runs."),
            "reset": ("limits:reset", "Give a resource the limit of the settings again."),
        },
    ),
    "schedule": (
        "Start runs by themselves: at times, or for new files.",
        {
            "create": ("schedules:create", "Create a trigger: it starts runs at times, or for new files."),
            "list": ("schedules:list_schedules", "List what starts by itself: triggers, and Docrail's own work."),
            "pause": ("schedules:pause", "Pause a schedule."),
            "resume": ("schedules:resume", "Resume a paused schedule."),
            "run": ("schedules:run", "Start a pass now, also of a paused schedule."),
            "delete": ("schedules:delete", "Delete a trigger; what it has started goes on."),
        },
    ),
    "key": (
        "Create, rotate and revoke API keys, in the database itself.",
        {
            "create": ("keys:create", "Create an API key."),
            "list": ("keys:list_keys", "List a tenant's API keys, newest first, 500 at most."),
            "rotate": ("keys:rotate", "Give a key a new secret."),
            "revoke": ("keys:revoke", "Revoke a key at once, with the sessions that it opened."),
        },
    ),
    "session": (
        "See and end browser sessions.",
        {
            "list": ("sessions:list_sessions", "List your tenant's open browser sessions, newest first."),
            "revoke": ("sessions:revoke", "End a browser session at once, in every process."),
        },
    ),
    "quota": (
        "See and change how much tenants and API keys may use.",
        {
            "list": ("quotas:list_quotas", "List the quotas of your tenant and its API keys."),
            "set": ("quotas:change", "Set a quota of a tenant, or of one of its API keys."),
            "reset": ("quotas:reset", "Remove a quota that was set."),
        },
    ),
    "audit": (
        "Check the record of what people did.",
        {
            "list": ("audit:list_events", "List events, oldest first, 500 at most."),
            "verify": ("audit:verify", "Check that no event was changed, added or removed."),
        },
    ),
    "worker": (
        "Run workers against your servers, and see what they do.",
        {
            "start": ("servers:start_worker", "Run a worker against the servers of the settings."),
            "list": ("workers:list_workers", "List the workers, and what waits in their task queues."),
        },
    ),
    "server": (
        "Run the API against your servers, and prepare them.",
        {
            "start": ("servers:start_api", "Serve the HTTP API against the servers of the settings."),
            "migrate": ("servers:migrate", "Prepare the database and Temporal for this code."),
            "fake-gemini": ("fake_gemini:fake_gemini", "Play the Gemini API on this machine."),
        },
    ),
}

RUN_HELP = """Start runs, follow them, steer them.

`docrail run FILE` and `docrail run ID` start a run: `start` is assumed if the first word is none of the commands
below. Write it out for a file or a definition with the name of a command: `docrail run start list`.

Example: docrail run definitions/invoice.yaml -i document_id=doc_1 --wait
"""

NO_SETTINGS = ("DOCRAIL_API_URL", "DOCRAIL_API_KEY", "DOCRAIL_SETTINGS_FILE")
"""Variables that are not settings."""

EPILOG = (
    "Every command reads the DOCRAIL_* environment variables, which `docrail settings` lists; the options name the "
    "variables that they replace."
)


class Lazy(TyperCommand):
    """A command of which only its name and its first line of help are known until it runs."""

    def __init__(self, name: str, place: Place) -> None:
        """Load nothing."""
        super().__init__(name=name, help=place[1])
        self._place = place[0]

    def load(self) -> TyperCommand:
        """Return the command itself."""
        from docrail.cli.printout import command_of, help_of

        module, _, function = self._place.partition(":")
        leaf = getattr(importlib.import_module(f"docrail.cli.{module}"), function)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(self.name, help=help_of(leaf))(command_of(leaf))
        return cast("TyperCommand", typer.main.get_command(app))

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the arguments as the command itself does."""
        return self.load().make_context(*arguments, **options)


class Group(TyperGroup):
    """Commands under one word. `default` is the command that is meant if the first word is none of them."""

    default = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        if self.default and args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class Root(Group):
    """The whole program."""

    def format_commands(self, _: Any, formatter: Any) -> None:
        """List the shortcuts, then the nouns."""
        for title, names in (("Commands", SHORTCUTS), ("Commands by noun", {**NOUNS, **ALONE})):
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(100)) for name in names])


def read_settings() -> Any:
    """Return the settings of the environment. Raises: ValidationError if one is wrong."""
    from docrail.settings import Settings

    return Settings()


def assemble() -> Root:
    """Return the program."""
    app = typer.Typer(
        cls=Root,
        help="Durable document workflows. `docrail up` starts everything on this machine.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "obj": read_settings},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes break lines that people copy
        epilog=EPILOG,
    )
    app.callback()(_options)
    root = cast("Root", typer.main.get_command(app))
    root.commands = {name: Lazy(name, place) for name, place in {**SHORTCUTS, **ALONE}.items()}
    root.commands |= {name: _noun(name, *noun) for name, noun in NOUNS.items()}
    root.commands["run"].help = RUN_HELP
    cast("Group", root.commands["run"]).default = "start"
    return root


def leaves() -> Iterator[tuple[str, TyperCommand]]:
    """Yield every command with the words that name it, loaded."""
    for name, command in assemble().commands.items():
        if isinstance(command, Lazy):
            yield name, command.load()
        for verb, leaf in getattr(command, "commands", {}).items():
            yield f"{name} {verb}", leaf.load()


def _noun(name: str, summary: str, verbs: Mapping[str, Place]) -> Group:
    commands: dict[str, Any] = {verb: Lazy(verb, place) for verb, place in verbs.items()}
    return Group(
        name=name, help=summary, short_help=summary, commands=commands, no_args_is_help=True, rich_markup_mode=None
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"docrail {version('docrail')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options of the program itself."""


def _warn() -> None:
    """Print which variables are not settings. Loading the settings takes a while, so only if there may be any."""
    if names := [name for name in os.environ if name.upper().startswith("DOCRAIL_") and name not in NO_SETTINGS]:
        from docrail.cli.terminal import complain
        from docrail.settings import unread_variables

        for line in unread_variables(names):
            complain(line)


def _run() -> int:
    _warn()
    try:
        assemble().main(prog_name="docrail")
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        message = end.code
    except Exception as error:
        from docrail.cli.errors import words_of

        words = words_of(error)
        if words is None:
            raise
        message = words
    else:
        return 0
    from docrail.cli.terminal import complain

    complain(message)
    return 1


def _prepare() -> None:
    """End without a traceback on Ctrl-C, and print characters that the terminal cannot show as `?`."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(128 + signal.SIGINT))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    _prepare()
    code = _run()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed by the caller
        with suppress(OSError):  # the reader is gone
            stream.flush()
    # Temporal's core may abort the interpreter's own exit (sdk-python issue 300); everything is closed by now.
    os._exit(code)
