"""`docrail actions`: tell what people did to a run and about its failed steps, and what they gave by hand."""

import json
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

import typer

from commands.asking import HERE, Api, AsJson, ask_all, print_json
from dag.values import Json

PAGE = "500"
"""Actions asked for at once: the most that the API gives."""


def actions(
    run: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    step: Annotated[
        str | None, typer.Argument(help="Only what was done about this step, or to the whole run.", metavar="STEP")
    ] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Tell what people did to a run.

    The latest first: who paused, resumed, aborted or retried it, and each failed step that was tried again, skipped,
    dismissed or given an output; who did it, when and why, and what they gave by hand. Nothing that was refused.

    Exit codes: 0 told, 1 there is no such run, the API refused or is away; 2 wrong usage.

    Example: docrail actions invoice.order-4711
    """
    wanted = {"limit": PAGE} | ({} if step is None else {"step": step})
    told = ask_all(api, f"/v1/runs/{quote(run, safe='')}/actions", "actions", **wanted)
    if as_json:
        print_json(told)
    elif not told:
        print("nobody has paused, aborted or retried it, or dealt with a failed step of it")
    else:
        print("\n".join(line for action in told for line in _lines(action)))


def _lines(action: dict[str, Json]) -> Iterator[str]:
    details = dict(action["details"])
    why = f": {reason}" if (reason := details.pop("reason", "")) else ""
    where = f" {action['step_id']}" if action["step_id"] else ""
    yield f"{action['acted_at'][:19]}Z {action['action']}{where} by {action['acted_by']}{why}"
    for name, value in details.items():
        if value not in (None, {}) or action["action"] == "output":
            yield f"  {name} {json.dumps(value, ensure_ascii=False)}"
