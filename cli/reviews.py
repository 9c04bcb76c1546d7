"""`docrail review list`, `show` and `decide`: look at what waits for a person, and decide a run's human step.

The acts on documents' items are in review_work.py and review_fields.py.
"""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from docrail.cli.answer import Fields, Value, parse_answer
from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import Limit, complain_of_unmatched, moment
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.priority import WEIGHTS

REVIEWS = "/v1/reviews"

Id = Annotated[str, typer.Argument(help="A review item's id.", metavar="ID")]

SortBy = Annotated[
    str, typer.Option(help="Highest first: priority, uncertainty, sla, value or complexity.", metavar="NAME")
]


def list_reviews(
    *,
    queue: Annotated[str | None, typer.Option(help="Only items of this queue.", metavar="NAME")] = None,
    group: Annotated[str | None, typer.Option(help="Only items for this group of people.", metavar="NAME")] = None,
    kind: Annotated[str | None, typer.Option(help="Only items of this kind: document or step.", metavar="KIND")] = None,
    status: Annotated[
        str,
        typer.Option(help="open, postponed, approved, rejected, decided or closed.", metavar="STATUS"),
    ] = "open",
    claimed_by: Annotated[str | None, typer.Option(help="Only items that this person claimed.", metavar="NAME")] = None,
    assigned_to: Annotated[str | None, typer.Option(help="Only items assigned to this person.", metavar="NAME")] = None,
    vendor: Annotated[str | None, typer.Option(help="Only vendors with this in their name.", metavar="TEXT")] = None,
    band: Annotated[
        int | None, typer.Option(min=0, max=2, help="Only 2 overdue, 1 urgent, or 0 other items.", metavar="N")
    ] = None,
    due: Annotated[str | None, typer.Option(help="Only if due by then: 2026-11-30T12:00:00Z.", metavar="TIME")] = None,
    sort: SortBy = "priority",
    limit: Limit = 50,
    api: Api = HERE,
) -> Printout:
    """List review items, most urgent first.

    Example: docrail review list --kind step
    """
    wanted: dict[str, Json] = {"queue": queue, "group": group, "kind": kind, "status": status, "vendor": vendor}
    wanted |= {"claimed_by": claimed_by, "assigned_to": assigned_to, "due": due, "sort": sort, "band": band}
    page = ask_api(api, "GET", REVIEWS, params={**wanted, "limit": limit})
    complain_of_unmatched(page, "review item")
    listing = Listing({"review": ID, "queue": ID, "what": TEXT, "due": ID, "prio": NUMBER}, map(_row, page["reviews"]))
    more = ["… and more: --limit shows more of them"] if page["after"] else []
    return Printout(page["reviews"], [listing, *more])


def show(review: Id, api: Api = HERE) -> Printout:
    """Show an item: its content, and what may be decided.

    Example: docrail review show rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    found = ask_api(api, "GET", f"{REVIEWS}/{review}")
    return Printout(found, _lines(found))


def decide(review: Id, given: Fields = None, value: Value = None, api: Api = HERE) -> Printout:
    """Decide what a human step asks.

    The first decision counts; of a step that needs several approvals, the first that enough people made alike.

    Example: docrail review decide rev_0f9c6c4b3a2d4e5f8a7b6c5d4e approved=true
    """
    path = f"{REVIEWS}/{review}"
    form = ask_api(api, "GET", path)["form"] if given else None
    decided = ask_api(api, "POST", f"{path}/decision", json={"decision": parse_answer(given or [], value, form)})
    missing = decided["approvals_missing"]
    more = f"; {missing} more must decide alike" if missing else ""
    return Printout(decided, f"decided {decided['step_id']}{more}; {decided['run_id']} is {decided['run_status']}")


def _row(item: dict[str, Json]) -> list[str]:
    due = moment(item["due_at"], seconds=False)
    return [item["review_id"], item["queue"], item["title"], due, f"{item['priority']:.0f}"]


def _lines(item: dict[str, Json]) -> Iterator[str]:
    yield str(item["title"])
    due = moment(item["due_at"], seconds=False) or "never"
    yield f"  {item['kind']} in queue {item['queue']}, {item['status']}, due {due}"
    yield f"  run {item['run_id']}" + (f", step {item['step_id']}" if item["step_id"] else "")
    if item["document_id"]:
        yield f"  document {item['document_id']}"
    if item["group"]:
        yield f"  for the group {item['group']}"
    if item["may_not_decide"]:
        yield f"  may not be decided by {', '.join(item['may_not_decide'])}"
    if item["approvals_needed"] > 1:
        yield from _approvals(item) if item["kind"] == "step" else _two_approvals(item)
    if item["claimed_by"]:
        yield f"  {item['claimed_by']} works on it until {moment(item['claimed_until'], seconds=False)}"
    yield from (f"  {name}: {_text(part)}" for name, part in (item["show"] or item["summary"]).items())
    if item["kind"] == "document":
        parts = ", ".join(f"{name} {part:.2f} ({item_points(item, name):.1f})" for name, part in item["parts"].items())
        yield f"priority {item['priority']:.1f}: {parts}"
        yield from (f"  {reason['code']}: {reason['message']}" for reason in item["reasons"])
    if item["decided_by"]:
        yield f"decided by {item['decided_by'] or 'someone'}: {_text(item['decision'])}"
    elif item["kind"] == "step":
        yield from _form(item["form"])


def item_points(item: dict[str, Json], part: str) -> float:
    """Return the points that a part gives an item's priority."""
    return WEIGHTS[part] * float(item["parts"].get(part, 0))


def _approvals(item: dict[str, Json]) -> Iterator[str]:
    missing = f": {item['approvals_missing']} more must" if item["status"] == "open" else ""
    yield f"  {item['approvals_needed']} people must decide alike{missing}"
    yield from (f"  {made['by']} decided {_text(made['decision'])}" for made in item["decided_so_far"])


def _two_approvals(item: dict[str, Json]) -> Iterator[str]:
    missing = "; someone else must approve it too" if item["approvals_missing"] else ""
    if item["first_approved_by"]:
        yield f"  first approved by {item['first_approved_by']}{missing}"
    elif item["approvals_missing"]:
        yield "  two people must approve it"


def _form(form: dict[str, Json]) -> Iterator[str]:
    yield "a decision has:" if form.get("properties") else "a decision may be any JSON that the form allows"
    required = form.get("required") or []
    for name, field in (form.get("properties") or {}).items():
        type_ = field.get("type", "any JSON") if isinstance(field, dict) else "any JSON"
        title = field.get("title", "") if isinstance(field, dict) else ""
        must = ", required" if name in required else ""
        yield f"  {name}: {type_}{must}" + (f" ({title})" if title else "")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
