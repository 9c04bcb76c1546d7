"""`docrail review`: a document's fields and their confidence, corrections, and who did what."""

import math
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.review_work import claimed_for_one_act
from docrail.cli.reviews import REVIEWS, Id, item_points
from docrail.cli.tables import ID, NUMBER, TEXT, print_table
from docrail.cli.terminal import AsJson, Reason, moment, print_json
from docrail.dag.values.json_values import Json
from docrail.dag.values.suggestions import Suggestions

Field = Annotated[str, typer.Argument(help="A field's name.", metavar="FIELD")]


def fields(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Show a document's fields and their problems.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review fields rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    _show(ask_api(api, "GET", f"{_document(api, review)}/fields"), as_json=as_json)


def explain(
    review: Id,
    field: Annotated[str | None, typer.Argument(help="A field's name.", metavar="[FIELD]", show_default=False)] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Explain a field's confidence, or the item's priority.

    A field's confidence is a sum of evidence. Without a field: the document's confidence, and its place in the queue.

    Exit codes: 0 explained, 1 there is no such field, the API refused or is unavailable; 2 wrong usage.

    Example: docrail review explain rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    shown = ask_api(api, "GET", f"/v1/documents/{item['document_id']}/fields")
    found = next((each for each in shown["fields"] if each["name"] == field), None)
    if field is None and as_json:
        print_json({name: shown[name] for name in ("confidence", "explanation", "priority")})
    elif field is None:
        _explain_document(item, shown)
    elif found is None:
        names = [each["name"] for each in shown["fields"]]
        near = Suggestions().closest(field, names)
        expected = f"did you mean {near!r}?" if near else f"expected one of {', '.join(names)}"
        raise typer.BadParameter(f"there is no field {field!r}: {expected}", param_hint="FIELD")
    elif as_json:
        print_json(found)
    else:
        _explain_field(found)


def _explain_field(found: dict[str, Json]) -> None:
    empty = found["value"] is None
    print(
        f"{found['name']} " + ("has no value" if empty else f"= {found['value']}, confidence {found['confidence']:.4f}")
    )
    for part in found["explanation"]:
        print(f"  {part['weight']:+.2f}  {part['what']}")
    if found["explanation"] and not empty:
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


def correct(
    review: Id,
    given: Annotated[
        list[str],
        typer.Argument(
            help="Fields and their right values; nothing after the = for an empty field.", metavar="NAME=VALUE"
        ),
    ],
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Lock fields to the right values.

    Then shows the problems that are left.

    Exit codes: 0 corrected, 1 no such field or value, the API refused or is unavailable; 2 wrong usage.

    Example: docrail review correct rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total=119.00 date=2026-11-01
    """
    changes = [argument.partition("=") for argument in given]
    if wrong := [argument for argument in given if "=" not in argument]:
        raise typer.BadParameter(f"expected NAME=VALUE, found {wrong[0]!r}", param_hint="NAME=VALUE")
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        for name, _, value in changes:
            body = {"value": value or None, "token": claim["token"], "why": reason}
            shown = ask_api(api, "PUT", f"{path}/fields/{name}", json=body)
    _show(shown, as_json=as_json)


def unlock(review: Id, field: Field, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Unlock a field: it gets the value that was read.

    Exit codes: 0 unlocked, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review unlock rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        query = {"token": str(claim["token"]), "why": reason}
        shown = ask_api(api, "DELETE", f"{path}/fields/{field}", params=query)
    _show(shown, as_json=as_json)


def undo(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Take back your last change to a document's fields.

    Exit codes: 0 undone, 1 there is nothing of yours, the API refused or is unavailable; 2 wrong usage.

    Example: docrail review undo rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        shown = ask_api(api, "POST", f"{path}/undo", json={"token": claim["token"]})
    _show(shown, as_json=as_json)


def read_again(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Read a document again with today's readers.

    Locked fields stay.

    Exit codes: 0 started, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review read-again rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    started = ask_api(api, "POST", f"{_document(api, review)}/extract")
    print_json(started) if as_json else print(f"started {started['run_id']}")


def history(
    review: Id,
    after: Annotated[int, typer.Option(min=0, help="Only events after this number.", metavar="N")] = 0,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Show what people did to an item, oldest first.

    At most 500 events.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review history rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    events = ask_api(api, "GET", f"{REVIEWS}/{review}/audit", params={"limit": "500", "after": str(after)})["events"]
    if as_json:
        print_json(events)
        return
    for event in events:
        detail = ", ".join(f"{name} {value}" for name, value in event["detail"].items() if value not in (None, "", []))
        print(f"{moment(event['happened_at'])}  {event['actor']}  {event['act']}  {detail}".rstrip())


def _document(api: str, review: str) -> str:
    """Return where the item's document is."""
    return f"/v1/documents/{ask_api(api, 'GET', f'{REVIEWS}/{review}')['document_id']}"


def _show(shown: dict[str, Json], *, as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    rows = []
    for field in shown["fields"]:
        confidence = f"{field['confidence']:.2f}" if field["value"] is not None else ""
        by = field["lock"]["by"] if field["lock"] else ""
        rows.append([field["name"], field["value"] or "", confidence, field["source"], by])
    for name, value in (("document_type", shown["document_type"]), ("line_items", str(len(shown["line_items"])))):
        if name in shown["locks"]:
            rows.append([name, value, "", "human", shown["locks"][name]["by"]])
    print_table({"field": ID, "value": TEXT, "confidence": NUMBER, "source": ID, "set by": ID}, rows)
    for field in shown["fields"]:
        for proposal in field["proposals"]:
            print(f"{field['name']}: {proposal['source']} says {proposal['value']}, against the locked value")
    for problem in shown["problems"]:
        print(f"{problem['severity']}: {problem['message']}")
    if not shown["problems"]:
        print("no problems")
