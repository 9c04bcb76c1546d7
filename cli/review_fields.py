"""`docrail review`: a document's fields and their confidence, corrections, and who did what."""

import math
from collections.abc import Iterator
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.review_work import claimed_for_one_act
from docrail.cli.reviews import REVIEWS, Id, item_points
from docrail.cli.terminal import Reason, expected_one_of, moment
from docrail.dag.values.json_values import Json

Field = Annotated[str, typer.Argument(help="A field's name.", metavar="FIELD")]


def fields(review: Id, api: Api = HERE) -> Printout:
    """Show a document's fields and their problems.

    Example: docrail review fields rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    return _fields(ask_api(api, "GET", f"{_document(api, review)}/fields"))


def explain(
    review: Id,
    field: Annotated[str | None, typer.Argument(help="A field's name.", metavar="FIELD", show_default=False)] = None,
    api: Api = HERE,
) -> Printout:
    """Explain a field's confidence, or the item's priority.

    A field's confidence is a sum of evidence. Without a field: the document's confidence, and its place in the queue.

    Example: docrail review explain rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    shown = ask_api(api, "GET", f"/v1/documents/{item['document_id']}/fields")
    if field is None:
        data = {name: shown[name] for name in ("confidence", "explanation", "priority")}
        return Printout(data, _document_lines(item, shown))
    known = {each["name"]: each for each in shown["fields"]}
    if field not in known:
        raise typer.BadParameter(f"there is no field {field!r}{expected_one_of(field, known)}", param_hint="FIELD")
    return Printout(known[field], _field_lines(known[field]))


def _field_lines(found: dict[str, Json]) -> Iterator[str]:
    empty = found["value"] is None
    value = "has no value" if empty else f"= {found['value']}, confidence {found['confidence']:.4f}"
    yield f"{found['name']} {value}"
    yield from (f"  {part['weight']:+.2f}  {part['what']}" for part in found["explanation"])
    if found["explanation"] and not empty:
        odds = math.fsum(part["weight"] for part in found["explanation"])
        yield f"  {odds:+.2f}  in all, and 1 / (1 + e^{-odds:.2f}) = {found['confidence']:.4f}"
    yield from (f"  {candidate['source']} says {candidate['value']}" for candidate in found["candidates"])


def _document_lines(item: dict[str, Json], shown: dict[str, Json]) -> Iterator[str]:
    yield f"confidence {shown['confidence']:.4f}: e to the sum of"
    yield from (f"  {part['weight']:+.4f}  {part['what']}" for part in shown["explanation"])
    sla = {"what": f"sla: {item['parts'].get('sla', 0):.0%} of its time is used", "weight": item_points(item, "sla")}
    points = [*shown["priority"], sla]
    yield f"priority {math.fsum(part['weight'] for part in points):.1f}: the sum of"
    yield from (f"  {part['weight']:+.1f}  {part['what']}" for part in points)


def correct(
    review: Id,
    given: Annotated[
        list[str],
        typer.Argument(
            help="Fields and their right values; nothing after the = for an empty field.", metavar="NAME=VALUE"
        ),
    ],
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Lock fields to the right values.

    Then shows the problems that are left.

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
    return _fields(shown)


def unlock(review: Id, field: Field, reason: Reason = "", api: Api = HERE) -> Printout:
    """Unlock a field: it gets the value that was read.

    Example: docrail review unlock rev_0f9c6c4b3a2d4e5f8a7b6c5d4e total
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        query = {"token": str(claim["token"]), "why": reason}
        shown = ask_api(api, "DELETE", f"{path}/fields/{field}", params=query)
    return _fields(shown)


def undo(review: Id, api: Api = HERE) -> Printout:
    """Take back your last change to a document's fields.

    Example: docrail review undo rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    path = _document(api, review)
    with claimed_for_one_act(api, review) as claim:
        shown = ask_api(api, "POST", f"{path}/undo", json={"token": claim["token"]})
    return _fields(shown)


def read_again(review: Id, api: Api = HERE) -> Printout:
    """Read a document again with today's readers.

    Locked fields stay.

    Example: docrail review read-again rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    started = ask_api(api, "POST", f"{_document(api, review)}/extract")
    return Printout(started, f"started {started['run_id']}")


def history(
    review: Id,
    after: Annotated[int, typer.Option(min=0, help="Only events after this number.", metavar="N")] = 0,
    api: Api = HERE,
) -> Printout:
    """Show what people did to an item, oldest first.

    At most 500 events.

    Example: docrail review history rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    events = ask_api(api, "GET", f"{REVIEWS}/{review}/audit", params={"limit": 500, "after": after})["events"]
    return Printout(events, [Listing({"when": ID, "by": ID, "what": ID, "details": TEXT}, map(_event_row, events))])


def _event_row(event: dict[str, Json]) -> list[str]:
    details = ", ".join(f"{name} {value}" for name, value in event["detail"].items() if value not in (None, "", []))
    return [moment(event["happened_at"]), event["actor"], event["act"], details]


def _document(api: str, review: str) -> str:
    """Return where the item's document is."""
    return f"/v1/documents/{ask_api(api, 'GET', f'{REVIEWS}/{review}')['document_id']}"


def _fields(shown: dict[str, Json]) -> Printout:
    rows = []
    for field in shown["fields"]:
        confidence = f"{field['confidence']:.2f}" if field["value"] is not None else ""
        by = field["lock"]["by"] if field["lock"] else ""
        rows.append([field["name"], field["value"] or "", confidence, field["source"], by])
    if lock := shown["locks"].get("line_items"):
        rows.append(["line_items", str(len(shown["line_items"])), "", "human", lock["by"]])
    listing = Listing({"field": ID, "value": TEXT, "confidence": NUMBER, "source": ID, "set by": ID}, rows)
    proposals = [
        f"{field['name']}: {proposal['source']} says {proposal['value']}, against the locked value"
        for field in shown["fields"]
        for proposal in field["proposals"]
    ]
    problems = [f"{problem['severity']}: {problem['message']}" for problem in shown["problems"]]
    return Printout(shown, [listing, *proposals, *(problems or ["no problems"])])
