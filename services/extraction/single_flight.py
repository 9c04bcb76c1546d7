"""Coalesce concurrent attempts at the same work: one does it, the others wait for the stored result."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.postgres.pool import DATABASE_ERRORS, Database, StorageError
from docrail.services.extraction.repository import (
    Claim,
    Lease,
    claim_lease,
    delete_forgotten_leases,
    release_lease,
    renew_lease,
)
from docrail.services.metrics import Metrics

__all__ = ["BeingReadError", "delete_forgotten_leases", "find_or_claim", "renewing"]

LEASE_SECONDS = 30.0
"""How long the work of a dead worker is blocked."""
RENEWALS = 3
"""Renewals per lease, so that one lost renewal does no harm."""
POLL_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 120.0
"""Longest time an attempt waits for another. It occupies a slot of its worker, and each poll costs a query."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class BeingReadError(TryAgainLaterError):
    """Another attempt holds the work and will resume it later than is worth waiting for in a slot."""

    def __init__(self, free_in_seconds: float) -> None:
        Exception.__init__(
            self, f"these bytes are being read for another document, which tries again in {free_in_seconds:.0f} s"
        )
        self.status = 0
        self.retry_after_seconds = max(free_in_seconds, 1.0)


async def find_or_claim(
    db: Database, lease: Lease, find: Callable[[], Awaitable[T | None]], metrics: Metrics
) -> T | Claim:
    """Return the result of `find` as soon as there is one, else a claim.

    A claim that is not `mine` carries the note of a holder that found the work futile for now.
    Raises: BeingReadError.
    """
    loop = asyncio.get_running_loop()
    until, waited = loop.time() + LONGEST_WAIT_SECONDS, False
    while True:
        found = await find()
        if found is not None:
            return found
        claim = await claim_lease(db, lease, LEASE_SECONDS)
        if claim.mine:
            return await _unless_just_done(db, lease, find, claim)
        if claim.note.get("refused"):
            return claim
        if not waited:
            waited = True
            metrics.waits.inc()
        if claim.free_in_seconds > LEASE_SECONDS or loop.time() > until:
            raise BeingReadError(claim.free_in_seconds)
        await asyncio.sleep(random.uniform(POLL_SECONDS / 2, POLL_SECONDS))  # noqa: S311 - no secret


async def _unless_just_done(
    db: Database, lease: Lease, find: Callable[[], Awaitable[T | None]], claim: Claim
) -> T | Claim:
    """Return the claim, or the result that its last holder stored between `find` and the claim."""
    found = await find()
    if found is None:
        return claim
    await release_lease(db, lease)
    return found


@asynccontextmanager
async def renewing(db: Database, lease: Lease) -> AsyncIterator[None]:
    """Renew the lease while the body runs."""
    task = asyncio.create_task(_renew(db, lease))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _renew(db: Database, lease: Lease) -> None:
    pause = LEASE_SECONDS / RENEWALS
    while True:
        await asyncio.sleep(pause)
        try:
            await renew_lease(db, lease, LEASE_SECONDS)
            pause = LEASE_SECONDS / RENEWALS
        except (OSError, StorageError, *DATABASE_ERRORS) as error:
            log.warning("the lease of %s could not be renewed: %s", lease.work_key, error)
            pause = POLL_SECONDS  # as often as others poll for the lease
