"""Send decisions about documents to waiting runs: at once, or by a sweep if the deciding process died before that.

The pending answers are read from the review queue (`repository/decisions.py`), so none can be lost. An update's id is
derived from the question and the decision, so repeated answers have no further effect.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence

from docrail.adapters.postgres.pool import transaction
from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.dag.values.json_values import digest
from docrail.services.access.models import Principal, Scope, system_principal
from docrail.services.access.service import list_known_to
from docrail.services.app import App, within
from docrail.services.errors import InvalidInput, MayNotDecide, NotFound, OperationError, Unavailable, WrongState
from docrail.services.reviews.items import lock_item, record
from docrail.services.reviews.models import CLOSED, StepEnd, Unanswered
from docrail.services.reviews.questions import close
from docrail.services.reviews.repository.decisions import load_all_unanswered, load_unanswered, put_off, reopen_review
from docrail.services.runs.control import answer_wait
from docrail.workflows.contract.names import BY_DOCUMENT

GRACE_SECONDS = 10.0
"""How long the deciding process has to answer the run before the sweep does it too. Both together is harmless."""

SWEEP_BATCH = 100
SWEEP_SECONDS = 30.0
"""A sweep starts no more answers after this time; the next sweep continues. A run without a worker takes 10 s."""

AT_ONCE = 10

PATIENCE_SECONDS = 3.0
"""How long the deciding person waits for the answered runs: less than a request may wait for a frozen service."""

log = logging.getLogger(__name__)


async def answer_runs(app: App, tenant_id: str, review_id: str) -> bool:
    """Answer the runs that wait for this item's decision; False if one is unreachable, which the sweep then retries."""
    return all(await _answer_in_time(app, await load_unanswered(app.db, tenant_id, review_id)))


async def answer_runs_of_many(app: App, tenant_id: str, review_ids: Sequence[str]) -> None:
    """Answer the runs that wait for the decisions of these items; after a failure the sweep answers the rest.

    So the caller waits no longer for many runs without a worker than for one.
    """
    for some in _turns([each for id_ in review_ids for each in await load_unanswered(app.db, tenant_id, id_)]):
        if not all(await _answer_in_time(app, some)):
            break


async def answer_waiting_runs(app: App, *, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Answer the runs of all tenants that still wait for a stored decision, and return how many were answered."""
    with all_tenants():
        waiting = await load_all_unanswered(app.db, older_than_seconds=older_than_seconds, limit=SWEEP_BATCH)
    answered, until = 0, time.monotonic() + SWEEP_SECONDS
    for some in _turns(waiting):
        if time.monotonic() > until:
            break
        with all_tenants():
            await put_off(app.db, some)  # put off first: an unreachable run must not lead every sweep
        answered += (await _answer_some(app, some)).count(True)
    return answered


def _turns(waiting: Sequence[Unanswered]) -> Iterator[Sequence[Unanswered]]:
    return (waiting[at : at + AT_ONCE] for at in range(0, len(waiting), AT_ONCE))


async def _answer_in_time(app: App, some: Sequence[Unanswered]) -> list[bool]:
    """Answer these runs, but do not let a person wait for a frozen Temporal: the decision is stored."""
    try:
        return await within(PATIENCE_SECONDS, _answer_some(app, some))
    except TimeoutError:
        log.warning("%d runs have not received their documents' decisions in time", len(some))
        return [False]


async def _answer_some(app: App, some: Sequence[Unanswered]) -> list[bool]:
    """Answer these runs concurrently, and return for each whether it was answered."""
    outcomes = await asyncio.gather(*(_answer_as_tenant(app, each) for each in some), return_exceptions=True)
    for each, outcome in zip(some, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            log.warning("%s has not received its document's decision: %r", each.run_id, outcome)
    return [outcome is True for outcome in outcomes]


async def _answer_as_tenant(app: App, each: Unanswered) -> bool:
    with of_tenant(each.tenant_id):
        return await _answer(app, each)


async def _answer(app: App, each: Unanswered) -> bool:
    others = await list_known_to(app.db, each.tenant_id, each.decided_by)
    who = Principal(each.tenant_id, each.decided_by, frozenset({Scope.REVIEW}), known_to=next(iter(others), None))
    update_id = f"{BY_DOCUMENT}{digest([each.step_id, each.asked_at, each.decision, each.decided_by])}"
    try:
        await answer_wait(app, who, each.run_id, each.step_id, each.decision, update_id=update_id)
    except Unavailable as error:
        log.warning("%s has not received its document's decision yet: %s", each.run_id, error)
        return False
    except (InvalidInput, MayNotDecide) as error:
        await _give_back(app, each, error)
    except (NotFound, WrongState) as error:  # it ended or was answered in another way: there is nothing to send
        log.warning("%s no longer waits for its document's decision: %s", each.run_id, error)
        await close(app.db, each.tenant_id, each.run_id, each.step_id, StepEnd(CLOSED, each.asked_at))
    return True


async def _give_back(app: App, each: Unanswered, refused: OperationError) -> None:
    """Reopen the item: its run refuses this decision, or refuses it from this person."""
    log.warning("%s refuses its document's decision: %s", each.run_id, refused)
    system = system_principal(each.tenant_id)
    async with transaction(app.db) as tx:
        review = await lock_item(tx, system, each.review_id)
        if not review.is_open:
            await reopen_review(tx, each.tenant_id, each.review_id)
            await record(tx, system, review, "reopened", why=f"its run refused the decision: {refused}")
