"""`docrail audit`: what people did to documents and review items, and whether that record is whole."""

from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.speaking import complain

AUDIT = "/v1/audit"

audit = typer.Typer(name="audit", no_args_is_help=True)


@audit.callback()
def about() -> None:
    """Check the record of what people did.

    Example: docrail audit verify
    """


@audit.command()
def verify(
    head: Annotated[
        str | None, typer.Option(help="Of an earlier check: it must be there still.", metavar="HASH")
    ] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Check that no event was changed, added or removed.

    Keep the head that it prints elsewhere, and give it to a later check: a chain that was rewritten as a whole has
    not got it.

    Exit codes: 0 intact, 1 broken, or the API refused or is away; 2 wrong usage.

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


@audit.command("list")
def show_all(
    after: int = typer.Option(0, min=0, help="Number of the last event that you know.", metavar="N"),
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """List events, oldest first, 500 at most.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail audit list --after 500
    """
    events = ask_api(api, "GET", AUDIT, params={"after": str(after), "limit": "500"})["events"]
    if as_json:
        print_json(events)
        return
    for event in events:
        at = event["happened_at"][:19].replace("T", " ")
        print(f"{event['sequence']}  {at}  {event['actor']}  {event['act']}  {event['review_id'] or ''}".rstrip())
