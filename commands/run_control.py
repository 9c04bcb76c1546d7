"""`docrail pause`, `resume` and `abort`: start nothing more in a run, let it go on, end it early."""

from typing import Annotated
from urllib.parse import quote

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.speaking import say
from dag.values import Json

RunId = Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")]
Reason = Annotated[str, typer.Option(help="Why; recorded with it, and told by `docrail actions`.", metavar="TEXT")]
Force = Annotated[
    bool, typer.Option("--force", help="Ask no worker: for a run that none can carry on. Its steps are not told.")
]


def pause(run: RunId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Start no more steps of a run.

    What runs goes on, and answers are taken. The runs inside it are paused by their own ids; its deadline still counts.
    `docrail waits` names the runs that are paused.

    Exit codes: 0 paused, 1 the run is not in a state for it, or the API refused or is away, 2 wrong usage.

    Example: docrail pause invoice.order-4711 --reason "the bank is closed"
    """
    told = _order(api, run, "pause", {"reason": reason})
    if as_json:
        print_json(told)
    elif told["status"] == "paused":
        say(f"{run} is paused: what runs goes on, and `docrail resume {run}` begins the rest")
    if told["status"] != "paused":
        raise SystemExit(f"{run} is {told['status']}, not paused: it came to its end in the same moment")


def resume(run: RunId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Let a paused run go on.

    Exit codes: 0 it goes on, 1 it is not paused, or the API refused or is away, 2 wrong usage.

    Example: docrail resume invoice.order-4711
    """
    told = _order(api, run, "resume", {"reason": reason})
    if as_json:
        print_json(told)
        return
    waits = f": `docrail waits {run}` tells for what" if told["status"] == "waiting" else ""
    say(f"{run} goes on, and is {told['status']}{waits}")


def abort(
    run: RunId,
    *,
    reason: Annotated[str, typer.Option(help="Why; what the run then says of its end.", metavar="TEXT")],
    force: Force = False,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """End a run early, as aborted.

    Its running steps are stopped and waited for, the runs inside it are cancelled, and what has not begun is skipped.
    Then what it did is undone, where its definition says how (`compensate`). Nothing is asked before.

    With --force, for a run whose workflow task fails, nobody stops its steps or undoes them, and it has failed.

    Exit codes: 0 aborted, 1 it has ended or is ending already, or the API refused or is away, 2 wrong usage.

    Example: docrail abort invoice.order-4711 --reason "wrong customer"
    """
    told = _order(api, run, "abort", {"reason": reason, "force": force})
    if as_json:
        print_json(told)
    elif force:
        say(f"{run} is {told['status']}, ended by force: its steps were not told to stop, and nothing is undone")
    else:
        goes_on = "what still runs is told to stop, then what has a `compensate` is undone"
        say(f"{run} is {told['status']}: {goes_on}; `docrail explain {run}` tells how far that is")


def _order(api: str, run: str, action: str, order: dict[str, Json]) -> dict[str, Json]:
    told: dict[str, Json] = ask_api(api, "POST", f"/v1/runs/{quote(run, safe='')}/{action}", json=order)
    return told
