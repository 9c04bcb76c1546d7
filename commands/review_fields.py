"""`docrail reviews`: see a document's fields and why they are trusted, correct them, see who did what."""

import math
from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.review_work import Why, claimed_for_one_act
from commands.reviews import REVIEWS, Id, item_points
from commands.speaking import console, table
from dag.values import Json

Field = Annotated[str, typer.Argument(help="A field's name.", metavar="FIELD")]

review_fields = typer.Typer()


@review_fields.command()
def fields(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Show a document's fields, and what is wrong with them.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews fields rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    _show(ask_api(api, "GET", f"{_document(api, review)}/fields"), as_json=as_json)


@review_fields.command("why")
def explain(
    review: Id,
    field: Annotated[str | None, typer.Argument(help="A field's name.", metavar="FIELD")] = None,
    api: Api = HERE,
) -> None:
    """Explain a field's confidence: what speaks for its value.

    Without a field, the document's confidence and its place in the queue.

    Exit codes: 0 explained, 1 there is no such field, the API refused or is away; 2 wrong usage.

    Example: docrail reviews why rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    shown = ask_api(api, "GET", f"/v1/documents/{item['document_id']}/fields")
    found = next((each for each in shown["fields"] if each["name"] == field), None)
    if field is None:
        _explain_document(item, shown)
    elif found is None:
        names = ", ".join(each["name"] for each in shown["fields"])
        raise typer.BadParameter(f"there is no {field}: expected one of {names}", param_hint="FIELD")
    else:
        _explain_field(found)


def _explain_field(found: dict[str, Json]) -> None:
    print(f"{found['name']} = {found['value']}, confidence {found['confidence']:.4f}")
    for part in found["explanation"]:
        print(f"  {part['weight']:+.2f}  {part['what']}")
    if found["explanation"]:
        odds = math.fsum(part["weight"] for part in found["explanation"])
        print(f"  {odds:+.2f}  in all, and 1 / (1 + e^{-odds:.2f}) = {found['confidence']:.4f}")
    for candidate in found["candidates"]:
        print(f"  {candidate['source']} says {candidate['value']}")


def _explain_document(item: dict[str, Json], shown: dict[str, Json]) -> None:
    print(f"confidence {shown['confidence']:.4f}: e to the sum of")
    for part in shown["explanation"]:
        print(f"  {part['weight']:+.4f}  {part['what']}")
    sla = {"what": f"sla: {item['parts'].get('sla', 0):.0%} of its time is used", "weight": item_points(item, "sla")}
    points = [*shown["priority"], sla]
    print(f"priority {math.fsum(part['weight'] for part in points):.1f}: the sum of")
    for part in points:
        print(f"  {part['weight']:+.1f}  {part['what']}")


@review_fields.command()
def correct(
    review: Id,
    given: Annotated[
        list[str], typer.Argument(help="What fields really say; none behind the = for nothing.", metavar="NAME=VALUE")
    ],
    why: Why = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Lock fields to what they really say.

    Then shows what is still wrong.

    Exit codes: 0 corrected, 1 no such field or value, the API refused or is away; 2 wrong usage.

    Example: docrail reviews correct rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total=119.00 date=2026-11-01
    """
    changes = [argument.partition("=") for argument in given]
    if wrong := [argument for argument in given if "=" not in argument]:
        raise typer.BadParameter(f"expected NAME=VALUE, found {wrong[0]!r}", param_hint="NAME=VALUE")
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        for name, _, value in changes:
            body = {"value": value or None, "token": claim["token"], "why": why}
            shown = ask_api(api, "PUT", f"{path}/fields/{name}", json=body)
    _show(shown, as_json=as_json)


@review_fields.command()
def unlock(review: Id, field: Field, why: Why = "", api: Api = HERE) -> None:
    """Unlock a field: it has what was read again.

    Exit codes: 0 unlocked, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews unlock rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        query = {"token": str(claim["token"]), "why": why}
        shown = ask_api(api, "DELETE", f"{path}/fields/{field}", params=query)
    _show(shown, as_json=False)


@review_fields.command()
def undo(review: Id, api: Api = HERE) -> None:
    """Take back your last change to a document's fields.

    Exit codes: 0 undone, 1 there is nothing of yours, the API refused or is away; 2 wrong usage.

    Example: docrail reviews undo rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        shown = ask_api(api, "POST", f"{path}/undo", json={"token": claim["token"]})
    _show(shown, as_json=False)


@review_fields.command("read-again")
def read_again(review: Id, api: Api = HERE) -> None:
    """Have a document read again by today's readers. Locked fields stay.

    Exit codes: 0 started, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews read-again rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    started = ask_api(api, "POST", f"{_document(api, review)}/extract")
    print(f"started {started['run_id']}")


@review_fields.command()
def history(
    review: Id,
    after: Annotated[int, typer.Option(min=0, help="Number of the last event that you know.", metavar="N")] = 0,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Show what people did to an item, oldest first.

    500 events at most.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews history rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    events = ask_api(api, "GET", f"{REVIEWS}/{review}/audit", params={"limit": "500", "after": str(after)})["events"]
    if as_json:
        print_json(events)
        return
    for event in events:
        told = ", ".join(f"{name} {value}" for name, value in event["detail"].items() if value not in (None, "", []))
        print(f"{event['happened_at'][:19].replace('T', ' ')}  {event['actor']}  {event['act']}  {told}".rstrip())


def _document(api: str, review: str) -> str:
    """Return where the item's document is."""
    return f"/v1/documents/{ask_api(api, 'GET', f'{REVIEWS}/{review}')['document_id']}"


def _show(shown: dict[str, Json], *, as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    rows = table()
    for heading in ("field", "value", "confidence", "source", "said by"):
        rows.add_column(heading, overflow="fold")
    for field in shown["fields"]:
        by = field["lock"]["by"] if field["lock"] else ""
        rows.add_row(field["name"], field["value"] or "", f"{field['confidence']:.2f}", field["source"], by)
    for name, value in (("document_type", shown["document_type"]), ("line_items", str(len(shown["line_items"])))):
        if name in shown["locks"]:
            rows.add_row(name, value, "", "human", shown["locks"][name]["by"])
    console().print(rows)
    for field in shown["fields"]:
        for proposal in field["proposals"]:
            print(f"{field['name']}: {proposal['source']} says {proposal['value']}, against what is locked")
    for problem in shown["problems"]:
        print(f"{problem['severity']}: {problem['message']}")
    if not shown["problems"]:
        print("nothing is wrong")
