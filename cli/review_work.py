"""`docrail review`: take documents' items, give them back, approve or reject them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, given
from docrail.cli.printout import Printout
from docrail.cli.reviews import REVIEWS, Id
from docrail.cli.terminal import Reason, TextFilter, VendorFilter, moment
from docrail.dag.values.json_values import Json
from docrail.transport import ApiError, NoAnswerError

NO_DIGEST = "0" * 64
"""The digest of no document."""
ANY_TOKEN = 1
"""Sent with a repeated decision, which needs no claim."""


def claim_of(api: str, review: str) -> dict[str, Json]:
    """Claim an item, or renew the caller's claim. Raises: ApiError."""
    claim: dict[str, Json] = ask_api(api, "POST", f"{REVIEWS}/{review}/claim")
    return claim


@contextmanager
def claimed_for_one_act(api: str, review: str) -> Iterator[dict[str, Json]]:
    """Claim an item for the block; give it back if the block is refused and the caller had no claim before."""
    before = ask_api(api, "GET", f"{REVIEWS}/{review}")["claimed_by"]
    claim = claim_of(api, review)
    try:
        yield claim
    except NoAnswerError:  # it may have been done
        raise
    except ApiError:
        if before is None:
            ask_api(api, "POST", f"{REVIEWS}/{review}/release", json={"token": claim["token"]})
        raise


def take_next(
    queue: Annotated[str | None, typer.Option(help="Only from this queue.", metavar="NAME")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind: document or step.", metavar="KIND")] = None,
    group: Annotated[str | None, typer.Option(help="Only for this group of people.", metavar="NAME")] = None,
    api: Api = HERE,
) -> Printout:
    """Claim the most urgent item that is free.

    Example: docrail review next --queue documents
    """
    claim = ask_api(api, "POST", f"{REVIEWS}/next", json=given(queue=queue, kind=kind, group=group))["claim"]
    return Printout(claim, "no item is free" if claim is None else _claim_lines(claim))


def claim(review: Id, api: Api = HERE) -> Printout:
    """Claim an item, for 15 minutes.

    Example: docrail review claim rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    claimed = claim_of(api, review)
    return Printout(claimed, _claim_lines(claimed))


def release(review: Id, api: Api = HERE) -> Printout:
    """Give an item back to the queue.

    With the scope `operate` also an item that someone else claimed.

    Example: docrail review release rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    released = ask_api(api, "POST", f"{REVIEWS}/{review}/release")
    return Printout(released, f"released {review}")


def assign(
    review: Id, to: Annotated[str, typer.Argument(help="The person.", metavar="NAME")], api: Api = HERE
) -> Printout:
    """Assign an item to one person.

    Example: docrail review assign rev_0f9c6c4b3a2d4e5f8a7b6c5d4e bob
    """
    assigned = ask_api(api, "POST", f"{REVIEWS}/{review}/assign", json={"to": to})
    return Printout(assigned, f"assigned {review} to {to}")


def postpone(
    review: Id,
    until: Annotated[str, typer.Argument(help="A time with its zone: 2026-11-30T09:00:00Z.", metavar="TIME")],
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Hide an item until a time. Its SLA clock keeps running.

    Example: docrail review postpone rev_0f9c6c4b3a2d4e5f8a7b6c5d4e 2026-11-30T09:00:00Z --reason "the vendor was asked"
    """
    with claimed_for_one_act(api, review) as claim:
        body = {"token": claim["token"], "until": until, "why": reason}
        postponed = ask_api(api, "POST", f"{REVIEWS}/{review}/postpone", json=body)
    return Printout(postponed, f"postponed {review} until {until}")


def approve(
    reviews: Annotated[list[str], typer.Argument(help="Review items' ids.", metavar="ID")],
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Approve a document as it is now.

    Given several, it approves those without problems.

    Exit codes: 0 approved, or a second person must approve too; 1 one was not, the API refused or is unavailable;
    2 wrong usage.

    Example: docrail review approve rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "the deposit is in it"
    """
    if len(reviews) == 1:
        return _decide(api, reviews[0], "approve", reason)
    shown = [{"review_id": review, "digest": _digest_of(api, review) or NO_DIGEST} for review in reviews]
    done = ask_api(api, "POST", f"{REVIEWS}/approve", json={"items": shown})["items"]
    lines = [
        f"{each['review_id']}  " + ("approved" if each["approved"] else f"not approved: {each['why']}") for each in done
    ]
    return Printout(done, lines, code=not all(each["approved"] for each in done))


def approve_all(
    vendor: VendorFilter = None,
    text: TextFilter = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve them; without it, nothing is changed.")] = False,
    api: Api = HERE,
) -> Printout:
    """Approve the waiting documents without problems.

    Shows what would be approved and what stays open and why; with --yes, approves exactly that.

    Exit codes: 0 done; 1 a document changed meanwhile and stays open, the API refused or is unavailable; 2 wrong usage.

    Example: docrail review approve-all --vendor coolblue --yes
    """
    wanted = {"matching": given(vendor=vendor, text=text)}
    preview = ask_api(api, "POST", f"{REVIEWS}/approve/preview", json=wanted)
    if not yes:
        return Printout(preview, [*_preview_lines(preview), "nothing is approved yet: repeat it with --yes"])
    done: list[dict[str, Json]] = []
    token = preview["token"]
    while token is not None:
        result = ask_api(api, "POST", f"{REVIEWS}/approve", json={"token": token})
        done, token = done + result["items"], result["token"]
    changed = [f"{each['review_id']}  stays open: {each['why']}" for each in done if not each["approved"]]
    lines = [f"approved {len(done) - len(changed)} of {preview['matching']} documents", *changed]
    return Printout(done, lines, code=bool(changed))


def _preview_lines(preview: dict[str, Json]) -> Iterator[str]:
    yield f"{preview['approved']} of {preview['matching']} documents have no problems"
    for each in preview["sums"]:
        yield f"  {each['total']} {each['currency'] or ''}".rstrip() + f"  ({each['documents']})"
    for item in preview["items"]:
        if not item["approved"]:
            yield f"{item['review_id']}  {item['file_name'] or ''}  stays open: {item['why']}"
    if preview["matching"] > len(preview["items"]):
        yield f"only the first {len(preview['items'])} are shown"


def _digest_of(api: str, review: str) -> str | None:
    """Return the digest of the document's state; None if there is no such item, which approving it reports."""
    try:
        item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    except NoAnswerError:
        raise
    except ApiError:
        return None
    digest: str | None = item["digest"]
    return digest


def reject(review: Id, reason: Reason, api: Api = HERE) -> Printout:
    """Reject a document.

    Example: docrail review reject rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "not ours"
    """
    return _decide(api, review, "reject", reason)


def reopen(review: Id, reason: Reason, api: Api = HERE) -> Printout:
    """Open a decided document again.

    A run that already received the decision goes on with it.

    Example: docrail review reopen rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "paid twice"
    """
    reopened = ask_api(api, "POST", f"{REVIEWS}/{review}/reopen", json={"why": reason})
    return Printout(reopened, f"reopened {review}")


def _decide(api: str, review: str, act: str, reason: str) -> Printout:
    """Decide on the present state of the document."""
    item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    outcome = _repeat(api, item, act, reason)
    if outcome is None:
        with claimed_for_one_act(api, review) as claim:
            outcome = _send_verdict(api, claim["review"], act, claim["token"], reason)
    if outcome["needs_second"]:
        why = "; ".join(need["message"] for need in outcome["needs_second"])
        return Printout(outcome, f"approved {review} as the first of two: {why}")
    later = "" if outcome["runs_answered"] else "; its run continues in a moment"
    return Printout(outcome, f"{outcome['review']['status']} {review}{later}")


def _repeat(api: str, item: dict[str, Json], act: str, reason: str) -> dict[str, Json] | None:
    """Return the outcome of a decision that the caller made before; None if it is new.

    The first answer may have been lost. What is decided cannot be claimed again.
    """
    if item["status"] in ("open", "postponed") and item["first_approved_by"] is None:
        return None
    try:
        return _send_verdict(api, item, act, ANY_TOKEN, reason)
    except ApiError as error:
        if error.kind != "claim-lost":
            raise
        return None


def _send_verdict(api: str, item: dict[str, Json], act: str, token: int, reason: str) -> dict[str, Json]:
    path = f"/v1/documents/{item['document_id']}/fields"
    digest = ask_api(api, "GET", path)["digest"] if item["kind"] == "document" else NO_DIGEST
    verdict = {"token": token, "digest": digest, "why": reason}
    outcome: dict[str, Json] = ask_api(api, "POST", f"{REVIEWS}/{item['review_id']}/{act}", json=verdict)
    return outcome


def _claim_lines(claimed: dict[str, Json]) -> list[str]:
    item, until = claimed["review"], moment(claimed["until"], seconds=False)
    return [f"{item['review_id']}  {item['title']}", f"  yours until {until}, token {claimed['token']}"]
