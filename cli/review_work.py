"""`docrail review`: take documents' items, give them back, approve or reject them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ApiError, NoAnswerError, ask_api
from docrail.cli.reviews import REVIEWS, Id
from docrail.cli.terminal import AsJson, Reason, moment, print_json
from docrail.dag.values.json_values import Json

NO_DIGEST = "0" * 64
"""The digest of no document."""
ANY_TOKEN = 1
"""Sent with a repeated decision, which needs no claim."""


def claim_of(api: str, review: str) -> dict[str, Json]:
    """Claim an item, anew if it is the caller's already. Raises: ApiError."""
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
    queue: Annotated[str | None, typer.Option(help="Of this queue only.", metavar="NAME")] = None,
    kind: Annotated[str | None, typer.Option(help="Of documents or of steps only: document, step.")] = None,
    group: Annotated[str | None, typer.Option(help="For this group of people only.", metavar="NAME")] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Claim the most urgent item that is free.

    Exit codes: 0 claimed, or none is free; 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review next --queue documents
    """
    given = {"queue": queue, "kind": kind, "group": group}
    wanted = {name: text for name, text in given.items() if text is not None}
    claim = ask_api(api, "POST", f"{REVIEWS}/next", json=wanted)["claim"]
    if as_json:
        print_json(claim)
    elif claim is None:
        print("no item is free")
    else:
        _say_claim(claim)


def claim(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Claim an item, for 15 minutes.

    Exit codes: 0 claimed, 1 someone works on it, the API refused or is unavailable; 2 wrong usage.

    Example: docrail review claim rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    claimed = claim_of(api, review)
    if as_json:
        print_json(claimed)
    else:
        _say_claim(claimed)


def release(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Give an item back to the queue.

    With the scope `operate` also an item that someone else claimed.

    Exit codes: 0 given back, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review release rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    released = ask_api(api, "POST", f"{REVIEWS}/{review}/release")
    print_json(released) if as_json else print(f"released {review}")


def assign(
    review: Id,
    to: Annotated[str, typer.Argument(help="The person.", metavar="NAME")],
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Put an item before one person.

    Exit codes: 0 assigned, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review assign rev_0f9c6c4b3a2d4e5f8a7b6c5d4e bob
    """
    assigned = ask_api(api, "POST", f"{REVIEWS}/{review}/assign", json={"to": to})
    print_json(assigned) if as_json else print(f"assigned {review} to {to}")


def postpone(
    review: Id,
    until: Annotated[str, typer.Argument(help="A time with its zone: 2026-11-30T09:00:00Z.", metavar="TIME")],
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Hide an item until a time. Its SLA goes on.

    Exit codes: 0 postponed, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review postpone rev_0f9c6c4b3a2d4e5f8a7b6c5d4e 2026-11-30T09:00:00Z --reason "the vendor was asked"
    """
    with claimed_for_one_act(api, review) as claim:
        body = {"token": claim["token"], "until": until, "why": reason}
        postponed = ask_api(api, "POST", f"{REVIEWS}/{review}/postpone", json=body)
    print_json(postponed) if as_json else print(f"postponed {review} until {until}")


def approve(
    reviews: Annotated[list[str], typer.Argument(help="Review items' ids.", metavar="ID...")],
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Approve a document as it is now.

    Of several, those without problems.

    Exit codes: 0 approved, or a second person must approve too; 1 one was not, the API refused or is unavailable;
    2 wrong usage.

    Example: docrail review approve rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "the deposit is in it"
    """
    if len(reviews) == 1:
        _decide(api, reviews[0], "approve", reason, as_json=as_json)
        return
    shown = [{"review_id": review, "digest": _digest_of(api, review) or NO_DIGEST} for review in reviews]
    done = ask_api(api, "POST", f"{REVIEWS}/approve", json={"items": shown})["items"]
    if as_json:
        print_json(done)
    for outcome in () if as_json else done:
        result = "approved" if outcome["approved"] else f"not approved: {outcome['why']}"
        print(f"{outcome['review_id']}  {result}")
    if not all(outcome["approved"] for outcome in done):
        raise typer.Exit(1)


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


def reject(
    review: Id,
    reason: Reason,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Reject a document.

    Exit codes: 0 rejected, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review reject rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "not ours"
    """
    _decide(api, review, "reject", reason, as_json=as_json)


def reopen(
    review: Id,
    reason: Reason,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Open a decided document again.

    A run that has got the decision goes on with it.

    Exit codes: 0 open again, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail review reopen rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "paid twice"
    """
    reopened = ask_api(api, "POST", f"{REVIEWS}/{review}/reopen", json={"why": reason})
    print_json(reopened) if as_json else print(f"reopened {review}")


def _decide(api: str, review: str, act: str, reason: str, *, as_json: bool) -> None:
    """Decide on the present state of the document."""
    item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    outcome = _repeat(api, item, act, reason)
    if outcome is None:
        with claimed_for_one_act(api, review) as claim:
            outcome = _send_verdict(api, claim["review"], act, claim["token"], reason)
    if as_json:
        print_json(outcome)
    elif outcome["needs_second"]:
        print(f"approved {review} as the first of two: {'; '.join(outcome['needs_second'])}")
    else:
        later = "" if outcome["runs_answered"] else "; its run goes on in a moment"
        print(f"{outcome['review']['status']} {review}{later}")


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


def _say_claim(claimed: dict[str, Json]) -> None:
    item = claimed["review"]
    print(f"{item['review_id']}  {item['title']}")
    print(f"  yours until {moment(claimed['until'], seconds=False)}, token {claimed['token']}")
