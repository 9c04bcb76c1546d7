"""Take review items, keep them while working, and give them back: to anybody, to somebody, or to oneself later."""

import datetime as dt
import re

from docrail.adapters.postgres.pool import transaction
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import ClaimedByOther, ClaimLost, InvalidInput, NotFound
from docrail.services.reviews.items import (
    REVIEW_ID_PATTERN,
    check_open,
    check_second,
    lock_free,
    lock_held,
    lock_item,
    record,
)
from docrail.services.reviews.models import Claim, Review, Wish
from docrail.services.reviews.repository import claims as review_claims
from docrail.services.reviews.repository.items import load_review

LONGEST_WAIT = dt.timedelta(days=366)
"""What is postponed for longer is forgotten."""


async def claim_review(app: App, principal: Principal, review_id: str) -> Claim:
    """Claim an item for the time of a lease.

    Raises: NotFound, WrongState (it is decided), ClaimedByOther, MayNotDecide (the caller approved it first).
    """
    async with transaction(app.db) as tx:
        review = await lock_item(tx, principal, review_id)
        check_open(review, "claim")
        check_second(principal, review)
        claim = await review_claims.claim_review(tx, principal.tenant_id, review_id, principal.name)
        if claim is None:
            raise ClaimedByOther(review.claimed_by or "somebody")
        await record(tx, principal, claim.review, "claimed", token=claim.token)
    return claim


async def claim_next(app: App, principal: Principal, wish: Wish) -> Claim | None:
    """Take the most urgent item that is free; None if there is none. No two callers get the same one."""
    async with transaction(app.db) as tx:
        claim = await review_claims.claim_next(tx, principal.tenant_id, principal.name, wish)
        if claim is not None:
            await record(tx, principal, claim.review, "claimed", token=claim.token)
    return claim


async def renew_claim(app: App, principal: Principal, review_id: str, token: int) -> dt.datetime:
    """Keep an item for another lease, and return until when. Raises: NotFound, ClaimLost."""
    known = re.fullmatch(REVIEW_ID_PATTERN, review_id)
    review = await load_review(app.db, principal.tenant_id, review_id) if known else None
    if review is None:
        raise NotFound("review item", review_id)
    until = await review_claims.renew_claim(app.db, principal.tenant_id, review_id, principal.name, token)
    if until is None:
        raise ClaimLost(review.claimed_by)
    return until


async def release_review(app: App, principal: Principal, review_id: str, token: int | None) -> Review:
    """Give an item back; whoever operates may take it from others. Raises: NotFound, WrongState, ClaimedByOther."""
    async with transaction(app.db) as tx:
        review = await lock_free(tx, principal, review_id, token, "release")
        await review_claims.free_review(tx, principal.tenant_id, review_id, postponed_until=review.postponed_until)
        await record(tx, principal, review, "released", claimed_by=review.claimed_by)
        return await lock_item(tx, principal, review_id)


async def assign_review(app: App, principal: Principal, review_id: str, to: str, token: int | None) -> Review:
    """Put an item before one person: they get it next, others do not get it unasked, though they may claim it.

    Raises: NotFound, WrongState, ClaimedByOther.
    """
    async with transaction(app.db) as tx:
        review = await lock_free(tx, principal, review_id, token, "assign")
        await review_claims.free_review(tx, principal.tenant_id, review_id, assigned_to=to)
        await record(tx, principal, review, "assigned", to=to, before=review.assigned_to)
        return await lock_item(tx, principal, review_id)


async def postpone_review(
    app: App, principal: Principal, review_id: str, token: int, *, until: dt.datetime, why: str
) -> Review:
    """Let an item lie until a time; its SLA goes on. Raises: NotFound, WrongState, ClaimLost, InvalidInput."""
    now = dt.datetime.now(dt.UTC)
    if until.tzinfo is None or not now < until <= now + LONGEST_WAIT:
        message = f"expected a time with its zone, after now and within {LONGEST_WAIT.days} days, found {until}"
        raise InvalidInput([InputProblem("until", message)])
    async with transaction(app.db) as tx:
        review = await lock_held(tx, principal, review_id, token, "postpone")
        await review_claims.free_review(tx, principal.tenant_id, review_id, postponed_until=until)
        await record(tx, principal, review, "postponed", until=until.isoformat(), why=why)
        return await lock_item(tx, principal, review_id)
