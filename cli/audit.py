"""`docrail audit`: what people did to documents and review items, and whether that record is whole."""

from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.terminal import AsJson, complain, moment, print_json

AUDIT = "/v1/audit"


def verify(
    head: Annotated[
        str | None, typer.Option(help="Head of an earlier check, which must still be there.", metavar="HASH")
    ] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Check that no event was changed, added or removed.

    Keep the printed head elsewhere, and give it to a later check: a chain that was rewritten as a whole lacks it.

    Exit codes: 0 intact, 1 broken, or the API refused or is unavailable; 2 wrong usage.

    Example: docrail audit verify
    """
    verdict = ask_api(api, "GET", f"{AUDIT}/verify", params={"head": head} if head else {})
    if as_json:
        print_json(verdict)
    elif verdict["intact"]:
        print(f"intact: {verdict['events']} events, head {verdict['head']}")
    else:
        place = f" at event {verdict['broken_at']}" if verdict["broken_at"] else ""
        complain(f"the audit is broken{place}: {verdict['problem']}")
    if not verdict["intact"]:
        raise typer.Exit(1)


def list_events(
    after: int = typer.Option(0, min=0, help="Only events after this number.", metavar="N"),
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """List events, oldest first, 500 at most.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail audit list --after 500
    """
    events = ask_api(api, "GET", AUDIT, params={"after": str(after), "limit": "500"})["events"]
    if as_json:
        print_json(events)
        return
    for event in events:
        at = moment(event["happened_at"])
        print(f"{event['sequence']}  {at}  {event['actor']}  {event['act']}  {event['review_id'] or ''}".rstrip())
