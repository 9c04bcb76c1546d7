"""Claim review items, renew claims, and release, assign or postpone items."""

import datetime as dt

from docrail.adapters.postgres.pool import transaction
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import ClaimedByOther, ClaimLost, InvalidInput
from docrail.services.reviews.items import (
    check_open,
    check_second,
    find_item,
    lock_free,
    lock_held,
    lock_item,
    record,
)
from docrail.services.reviews.models import Claim, Review, Wish
from docrail.services.reviews.repository import claims as review_claims
from docrail.services.reviews.repository.items import load_review

LONGEST_WAIT = dt.timedelta(days=366)
"""Longest time for which an item can be postponed."""


async def claim_review(app: App, principal: Principal, review_id: str) -> Claim:
    """Claim an item for the duration of a lease.

    Raises: NotFound, WrongState (it is decided), ClaimedByOther, MayNotDecide (the caller approved it first).
    """
    async with transaction(app.db) as tx:
        review = await lock_item(tx, principal, review_id)
        check_open(review, "claim")
        check_second(principal, review)
        claim = await review_claims.claim_review(tx, principal.tenant_id, review_id, principal.name)
        if claim is None:
            raise ClaimedByOther(review.claimed_by or "someone")
        await record(tx, principal, claim.review, "claimed", token=claim.token)
    return claim


async def claim_next(app: App, principal: Principal, wish: Wish) -> Claim | None:
    """Claim the most urgent free item; None if there is none. No two callers get the same one."""
    async with transaction(app.db) as tx:
        claim = await review_claims.claim_next(tx, principal.tenant_id, principal.name, wish)
        if claim is not None:
            await record(tx, principal, claim.review, "claimed", token=claim.token)
    return claim


async def renew_claim(app: App, principal: Principal, review_id: str, token: int) -> dt.datetime:
    """Extend a claim by another lease, and return its new end. Raises: NotFound, ClaimLost."""
    review = await find_item(load_review, app.db, principal, review_id)
    until = await review_claims.renew_claim(app.db, principal.tenant_id, review_id, principal.name, token)
    if until is None:
        raise ClaimLost(review.claimed_by)
    return until


async def release_review(app: App, principal: Principal, review_id: str, token: int | None) -> Review:
    """Release an item; operators may also release those of others. Raises: NotFound, WrongState, ClaimedByOther."""
    async with transaction(app.db) as tx:
        review = await lock_free(tx, principal, review_id, token, "release")
        await review_claims.free_review(tx, principal.tenant_id, review_id, postponed_until=review.postponed_until)
        await record(tx, principal, review, "released", claimed_by=review.claimed_by)
        return await lock_item(tx, principal, review_id)


async def assign_review(app: App, principal: Principal, review_id: str, to: str, token: int | None) -> Review:
    """Assign an item to one person, who gets it next; others get it only by claiming it explicitly.

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
    """Postpone an item; its SLA continues. Raises: NotFound, WrongState, ClaimLost, InvalidInput."""
    now = dt.datetime.now(dt.UTC)
    if until.tzinfo is None or not now < until <= now + LONGEST_WAIT:
        message = f"expected a time with its zone, after now and within {LONGEST_WAIT.days} days, found {until}"
        raise InvalidInput([InputProblem("until", message)])
    async with transaction(app.db) as tx:
        review = await lock_held(tx, principal, review_id, token, "postpone")
        await review_claims.free_review(tx, principal.tenant_id, review_id, postponed_until=until)
        await record(tx, principal, review, "postponed", until=until.isoformat(), why=why)
        return await lock_item(tx, principal, review_id)
