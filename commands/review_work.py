"""`docrail reviews`: take documents' items, give them back, approve or reject them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.client import ApiError, NoAnswerError
from commands.reviews import REVIEWS, Id
from dag.values import Json

Why = Annotated[str, typer.Option(help="Recorded with the act.", metavar="TEXT")]

NO_DIGEST = "0" * 64
"""That of no document's state."""

review_work = typer.Typer()


def claim_of(api: str, review: str) -> dict[str, Json]:
    """Claim an item, anew if it is the caller's already. Raises: ApiError."""
    claim: dict[str, Json] = ask_api(api, "POST", f"{REVIEWS}/{review}/claim")
    return claim


@contextmanager
def claimed_for_one_act(api: str, review: str) -> Iterator[dict[str, Json]]:
    """Claim an item for what the block does. If that is refused, who had not claimed it before gives it back."""
    before = ask_api(api, "GET", f"{REVIEWS}/{review}")["claimed_by"]
    claim = claim_of(api, review)
    try:
        yield claim
    except NoAnswerError:  # nobody knows whether it was done
        raise
    except ApiError:
        if before is None:
            ask_api(api, "POST", f"{REVIEWS}/{review}/release", json={"token": claim["token"]})
        raise


@review_work.command("next")
def take_next(
    queue: Annotated[str | None, typer.Option(help="Of this queue only.", metavar="NAME")] = None,
    kind: Annotated[str | None, typer.Option(help="Of documents or of steps only: document, step.")] = None,
    group: Annotated[str | None, typer.Option(help="For this group of people only.", metavar="NAME")] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Claim the most urgent item that is free.

    Exit codes: 0 claimed, or none is free; 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews next --queue documents
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


@review_work.command()
def claim(review: Id, as_json: AsJson = False, api: Api = HERE) -> None:
    """Claim an item, for 15 minutes.

    Exit codes: 0 claimed, 1 somebody works on it, the API refused or is away; 2 wrong usage.

    Example: docrail reviews claim rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    claimed = claim_of(api, review)
    if as_json:
        print_json(claimed)
    else:
        _say_claim(claimed)


@review_work.command()
def release(review: Id, api: Api = HERE) -> None:
    """Give an item back to the queue.

    Who may operate may take it from others so.

    Exit codes: 0 given back, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews release rev_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    ask_api(api, "POST", f"{REVIEWS}/{review}/release")
    print(f"released {review}")


@review_work.command()
def assign(
    review: Id, to: Annotated[str, typer.Argument(help="Who gets it next.", metavar="NAME")], api: Api = HERE
) -> None:
    """Put an item before one person.

    Exit codes: 0 assigned, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews assign rev_0f9c6c4b3a2d4e5f8a7b6c5d4e bob
    """
    ask_api(api, "POST", f"{REVIEWS}/{review}/assign", json={"to": to})
    print(f"assigned {review} to {to}")


@review_work.command()
def postpone(
    review: Id,
    until: Annotated[str, typer.Argument(help="A time with its zone: 2026-11-30T09:00:00Z.", metavar="TIME")],
    why: Why = "",
    api: Api = HERE,
) -> None:
    """Let an item lie until a time. Its SLA goes on.

    Exit codes: 0 postponed, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews postpone rev_0f9c6c4b3a2d4e5f8a7b6c5d4e 2026-11-30T09:00:00Z --why "the vendor was asked"
    """
    with claimed_for_one_act(api, review) as claim:
        body = {"token": claim["token"], "until": until, "why": why}
        ask_api(api, "POST", f"{REVIEWS}/{review}/postpone", json=body)
    print(f"postponed {review} until {until}")


@review_work.command()
def approve(
    reviews: Annotated[list[str], typer.Argument(help="Review items' ids.", metavar="ID...")],
    why: Why = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Approve a document as it is now.

    Of several, those of which nothing is wrong.

    Exit codes: 0 approved, or a second person must approve too; 1 one was not, the API refused or is away; 2 wrong
    usage.

    Example: docrail reviews approve rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --why "the deposit is in it"
    """
    if len(reviews) == 1:
        _decide(api, reviews[0], "approve", why, as_json=as_json)
        return
    shown = [{"review_id": review, "digest": _digest_of(api, review) or NO_DIGEST} for review in reviews]
    done = ask_api(api, "POST", f"{REVIEWS}/approve", json={"items": shown})["items"]
    if as_json:
        print_json(done)
    for outcome in () if as_json else done:
        told = "approved" if outcome["approved"] else f"not approved: {outcome['why']}"
        print(f"{outcome['review_id']}  {told}")
    if not all(outcome["approved"] for outcome in done):
        raise typer.Exit(1)


def _digest_of(api: str, review: str) -> str | None:
    """Return what the document's state is known by; None if there is none, which approving it will tell."""
    try:
        item = ask_api(api, "GET", f"{REVIEWS}/{review}")
    except NoAnswerError:
        raise
    except ApiError:
        return None
    digest: str | None = item["digest"]
    return digest


@review_work.command()
def reject(
    review: Id,
    why: Annotated[str, typer.Option(help="The reason, for whoever asks later.", metavar="TEXT")],
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Reject a document.

    Exit codes: 0 rejected, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews reject rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --why "not ours"
    """
    _decide(api, review, "reject", why, as_json=as_json)


@review_work.command()
def reopen(
    review: Id,
    why: Annotated[str, typer.Option(help="Why the decision does not stand.", metavar="TEXT")],
    api: Api = HERE,
) -> None:
    """Open a decided document again. A run that was told of the decision goes on with it.

    Exit codes: 0 open again, 1 the API refused or is away, 2 wrong usage.

    Example: docrail reviews reopen rev_0f9c6c4b3a2d4e5f8a7b6c5d4e --why "paid twice"
    """
    ask_api(api, "POST", f"{REVIEWS}/{review}/reopen", json={"why": why})
    print(f"reopened {review}")


def _decide(api: str, review: str, act: str, why: str, *, as_json: bool) -> None:
    """Decide on what the document is now."""
    with claimed_for_one_act(api, review) as claim:
        path = f"/v1/documents/{claim['review']['document_id']}/fields"
        digest = ask_api(api, "GET", path)["digest"] if claim["review"]["kind"] == "document" else NO_DIGEST
        verdict = {"token": claim["token"], "digest": digest, "why": why}
        outcome = ask_api(api, "POST", f"{REVIEWS}/{review}/{act}", json=verdict)
    if as_json:
        print_json(outcome)
    elif outcome["needs_second"]:
        print(f"approved {review} as the first of two: {'; '.join(outcome['needs_second'])}")
    else:
        told = "" if outcome["runs_told"] else "; its run is told in a moment"
        print(f"{outcome['review']['status']} {review}{told}")


def _say_claim(claimed: dict[str, Json]) -> None:
    item = claimed["review"]
    print(f"{item['review_id']}  {item['title']}")
    print(f"  yours until {claimed['until'][:16].replace('T', ' ')}, token {claimed['token']}")
