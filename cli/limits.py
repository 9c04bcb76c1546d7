"""`docrail limit`: how often the fleet may use limited resources; changes apply while work runs."""

from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import Reason, moment
from docrail.dag.language.rates import parse_rate, rate_text
from docrail.dag.values.json_values import Json

LIMITS = "/v1/limits"

Tag = Annotated[str, typer.Argument(help="A resource tag.", metavar="TAG")]


def list_limits(api: Api = HERE) -> Printout:
    """List the limited resources.

    `waiting` counts attempts whose turn has not come, `workers` the processes that take the resource's steps.

    Example: docrail limit list
    """
    found = ask_api(api, "GET", LIMITS)["limits"]
    return _printout(found, found)


def change(
    tag: Tag,
    rate: Annotated[
        str, typer.Argument(help="Uses per second, 5 or 5/s, or per minute, 300/min; 0 stops it.", metavar="RATE")
    ],
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Change a resource's limit while work runs.

    It applies at once, for the whole fleet, and survives restarts: the settings only give a limit's first value.

    Example: docrail limit set gemini_api 5 --reason "quota was halved"
    """
    try:
        per_second = parse_rate(rate)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="RATE") from None
    changed = ask_api(api, "PUT", f"{LIMITS}/{tag}", json={"per_second": per_second, "reason": reason})
    return _printout(changed, [changed])


def reset(tag: Tag, api: Api = HERE) -> Printout:
    """Give a resource the limit of the settings again.

    Example: docrail limit reset gemini_api
    """
    found = ask_api(api, "DELETE", f"{LIMITS}/{tag}")
    return _printout(found, [found])


def _printout(answer: Json, found: list[dict[str, Json]]) -> Printout:
    headings = {"resource": ID, "limit": ID, "settings": ID, "waiting": NUMBER, "workers": NUMBER, "changed": TEXT}
    return Printout(answer, [Listing(headings, map(_row, found))])


def _row(limit: dict[str, Json]) -> list[str]:
    rates = [rate_text(limit[name]) for name in ("per_second", "initial_per_second")]
    return [
        limit["tag"],
        *rates,
        "-" if limit["waiting"] is None else str(limit["waiting"]),
        str(limit["workers"]),
        _change(limit),
    ]


def _change(limit: dict[str, Json]) -> str:
    if limit["changed_by"] is None:
        return ""
    why = f": {limit['reason']}" if limit["reason"] else ""
    return f"{moment(limit['changed_at'])} by {limit['changed_by']}{why}"
