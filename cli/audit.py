"""`docrail audit`: what people did to documents and review items, and whether that record is whole."""

from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import moment
from docrail.dag.values.json_values import Json

AUDIT = "/v1/audit"


def verify(
    head: Annotated[
        str | None, typer.Option(help="Head of an earlier check, which must still be there.", metavar="HASH")
    ] = None,
    api: Api = HERE,
) -> Printout:
    """Check that no event was changed, added or removed.

    Keep the printed head elsewhere, and give it to a later check: a chain that was rewritten as a whole lacks it.

    Exit codes: 0 intact, 1 broken, or the API refused or is unavailable; 2 wrong usage.

    Example: docrail audit verify
    """
    verdict = ask_api(api, "GET", f"{AUDIT}/verify", params={"head": head})
    if verdict["intact"]:
        return Printout(verdict, f"intact: {verdict['events']} events, head {verdict['head']}")
    place = f" at event {verdict['broken_at']}" if verdict["broken_at"] else ""
    return Printout(verdict, error=f"the audit is broken{place}: {verdict['problem']}")


def list_events(
    after: int = typer.Option(0, min=0, help="Only events after this number.", metavar="N"),
    api: Api = HERE,
) -> Printout:
    """List events, oldest first, 500 at most.

    Example: docrail audit list --after 500
    """
    events = ask_api(api, "GET", AUDIT, params={"after": after, "limit": 500})["events"]
    headings = {"event": NUMBER, "when": ID, "by": ID, "what": ID, "review": ID}
    return Printout(events, [Listing(headings, map(_row, events))])


def _row(event: dict[str, Json]) -> list[str]:
    at, review = moment(event["happened_at"], seconds=False), event["review_id"] or ""
    return [str(event["sequence"]), at, event["actor"], event["act"], review]
