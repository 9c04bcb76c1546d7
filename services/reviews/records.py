"""Record acts on review items in the audit log with the item's state, and verify that every item is as they left it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from docrail.adapters.postgres.pool import Database
from docrail.services.access.models import Principal
from docrail.services.audit import service as audit
from docrail.services.audit.models import Act, ChainCheck
from docrail.services.reviews.repository.states import NEW, list_touched, load_states

if TYPE_CHECKING:  # handlers load this module, and checking a definition opens nothing
    from docrail.services.app import App

PAGE = 500
"""Number of items that a check reads at a time."""

List = Callable[..., Awaitable[list[str]]]


async def record_act(db: Database, tenant_id: str, act: Act) -> None:
    """Add an act on an item, whose state it left, to the audit log. Comes last: it locks the tenant's log."""
    assert act.review_id is not None, "an act on an item"
    states = await load_states(db, tenant_id, [act.review_id])
    await audit.append_event(db, tenant_id, replace(act, state=states.get(act.review_id)))


async def record_change(db: Database, tenant_id: str, act: Act) -> None:
    """Add the act if the item's decision is another one than after the last act; repeats add nothing."""
    assert act.review_id is not None, "an act on an item"
    if await _forged(db, tenant_id, [act.review_id]):
        await record_act(db, tenant_id, act)


async def verify_audit(app: "App", principal: Principal, *, kept_head: str | None = None) -> ChainCheck:
    """Check in one snapshot the tenant's chain, that it contains the head of an earlier check, and all items."""
    async with app.db.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        found = await audit.verify_chain(connection, principal.tenant_id, kept_head=kept_head)
        if not found.intact:
            return found
        async for review_id in _all_forged(connection, principal.tenant_id):
            problem = (
                f"the review item {review_id} is not as its last event left it: its decision, decider, revision or "
                "approvals were changed in the database, or the item was removed"
            )
            return replace(found, problem=problem)
        return found


async def _all_forged(db: Database, tenant_id: str) -> AsyncIterator[str]:
    """Yield the items that no event explains: of those with events, and of those that were touched."""
    lists: tuple[List, ...] = (audit.list_items, list_touched)
    for find in lists:
        last = ""
        while page := await find(db, tenant_id, after=last, limit=PAGE):
            for review_id in await _forged(db, tenant_id, page):
                yield review_id
            last = page[-1]


async def _forged(db: Database, tenant_id: str, review_ids: Sequence[str]) -> list[str]:
    now = await load_states(db, tenant_id, review_ids)
    recorded = await audit.load_states(db, tenant_id, review_ids)
    return [each for each in review_ids if not _fits(recorded.get(each), now.get(each))]


def _fits(recorded: str | None, now: str | None) -> bool:
    """Check a state against the recorded one; a first approval may have been voided since."""
    decision = (recorded or NEW).partition(".")[0]
    return now in {recorded or NEW, f"{decision}."}
