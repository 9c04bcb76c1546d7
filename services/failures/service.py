"""List, count and resolve the failed steps in the dead-letter inbox, one by one or in bulk."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.retry import Edit
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.service import load_file_names
from docrail.services.errors import NotFound, OperationError, Unavailable, WrongState
from docrail.services.failures import repository as dead_letters
from docrail.services.failures.models import (
    LetterCounts,
    LetterFilter,
    LetterGroups,
    LetterOrder,
    LetterPage,
    LetterStatus,
    Resolved,
    Retried,
    RetryOutcome,
    ShownLetter,
    StatusFilter,
    StoredLetter,
    View,
)
from docrail.services.failures.repository import record_report
from docrail.services.failures.resolve import settle_step
from docrail.services.paging import MOST_COMPARED, Unmatched, not_a_page, text_of, unmatched
from docrail.services.runs.control import end_run
from docrail.services.runs.service import checked_run_id, list_actions, record_action

__all__ = ["record_report"]

MOST_RETRIED = 100
"""Maximum number of letters that one call retries: a worker replays each ended run among them to restore its state."""

RETRIED_AT_ONCE = 4
"""Number of runs retried in parallel: each holds one of the pool's ten connections while its worker answers."""


async def list_letters(
    app: App, principal: Principal, wanted: LetterFilter, *, limit: int = 100, after: str | None = None
) -> LetterPage:
    """Return a page of letters. Raises: InvalidInput."""
    key = None if after is None else text_of(after).split("/")
    if key is not None and len(key) != 2:  # noqa: PLR2004 - a run and a step
        raise not_a_page()
    found = await dead_letters.list_letters(app.db, principal.tenant_id, wanted, limit=limit + 1, after=key)
    unknown = [] if found or key else await _unmatched(app, principal, wanted)
    shown = await _named(app, principal, found[:limit])
    return LetterPage(shown, "/".join(found[limit - 1].key) if len(found) > limit else None, unknown)


async def count_all_open(db: Database) -> dict[str, int]:
    """Return how many failures of all tenants no one has resolved, by status."""
    return {"parked": 0, "failed": 0} | await dead_letters.count_all_open(db)


async def count_letters(app: App, principal: Principal, wanted: LetterFilter) -> LetterCounts:
    """Return the number of letters per error class, most frequent first."""
    found = await dead_letters.count_letters(app.db, principal.tenant_id, wanted)
    return LetterCounts(found, [] if found else await _unmatched(app, principal, wanted))


async def group_letters(app: App, principal: Principal, wanted: LetterFilter, *, limit: int) -> LetterGroups:
    """Return the letters by error class and step, the largest group first."""
    groups = await dead_letters.group_letters(app.db, principal.tenant_id, wanted, limit=limit)
    counts = await dead_letters.count_letters(app.db, principal.tenant_id, wanted)
    return LetterGroups(groups, sum(count.letters for count in counts), Scope.OPERATE in principal.scopes)


async def _unmatched(app: App, principal: Principal, wanted: LetterFilter) -> list[Unmatched]:
    """Return the filters whose value no letter has, resolved or not."""
    asked = {"class": wanted.error_type, "definition": wanted.definition_id, "handler": wanted.handler}
    asked["step"] = wanted.step_id
    given = {name: value for name, value in asked.items() if value is not None}
    known = {
        name: await dead_letters.list_values(app.db, principal.tenant_id, name, value, limit=MOST_COMPARED + 1)
        for name, value in given.items()
    }
    return unmatched(given, known)


async def show_letter(app: App, principal: Principal, run_id: str, step_id: str) -> ShownLetter:
    """Return a letter and the actions on it. Raises: NotFound."""
    letter = await _load(app, principal, run_id, step_id)
    actions = await list_actions(app.db, principal.tenant_id, run_id, step_id=step_id)
    [named] = await _named(app, principal, [letter])
    return ShownLetter(**asdict(named), actions=actions)


async def _named(app: App, principal: Principal, letters: Sequence[StoredLetter]) -> list[StoredLetter]:
    """Return the letters with the file names of their documents."""
    ids = {letter.document_id for letter in letters if letter.document_id is not None}
    names = await load_file_names(app.db, principal.tenant_id, [*ids])
    return [replace(letter, file_name=names.get(letter.document_id or "")) for letter in letters]


async def resolve_letter(app: App, principal: Principal, run_id: str, step_id: str, order: LetterOrder) -> ShownLetter:
    """Resolve a failed step, and return its letter afterwards.

    Raises: NotFound, WrongState (already resolved, or its run cannot take it), InvalidInput, TooLarge, Unavailable.
    """
    letter = await _load(app, principal, run_id, step_id)
    if letter.status is LetterStatus.RESOLVED:
        raise WrongState(order.action, letter.status, "dead letter")
    if order.edit is not None:
        await settle_step(app, principal, run_id, step_id, order.edit, reason=order.reason)
    elif order.action is Resolved.ABORT:
        await _abort(app, principal, letter, order)
    else:
        await _dismiss(app, principal, letter, order)
    return await show_letter(app, principal, run_id, step_id)


async def list_of_document(app: App, principal: Principal, document_id: str) -> list[StoredLetter]:
    """Return the unresolved letters of a document's runs, those whose run waits first."""
    return await dead_letters.load_of_document(app.db, principal.tenant_id, document_id)


async def retry_letters(
    app: App, principal: Principal, keys: Sequence[tuple[str, str]], *, reason: str = ""
) -> Retried:
    """Retry these steps, at most MOST_RETRIED; one failure does not stop the others. Raises: NotFound."""
    letters = [await _load(app, principal, *key) for key in keys[:MOST_RETRIED]]
    outcomes = await _retry_all(app, principal, letters, reason)
    return Retried(outcomes, len(keys) - sum(outcome.retried for outcome in outcomes), [])


async def retry_matching(
    app: App, principal: Principal, wanted: LetterFilter, *, limit: int, reason: str = ""
) -> Retried:
    """Retry the matching open letters, oldest failure first, at most `limit` of them.

    Letters that fail again move to the end, so each is tried equally often.
    """
    wanted = replace(wanted, status=StatusFilter.OPEN, view=View.ALL)
    letters = await dead_letters.list_oldest(app.db, principal.tenant_id, wanted, limit=min(limit, MOST_RETRIED))
    outcomes = await _retry_all(app, principal, letters, reason)
    left = await dead_letters.count_letters(app.db, principal.tenant_id, wanted)
    unknown = [] if letters else await _unmatched(app, principal, wanted)
    return Retried(outcomes, sum(count.letters for count in left), unknown)


async def _retry_all(
    app: App, principal: Principal, letters: Iterable[StoredLetter], reason: str
) -> list[RetryOutcome]:
    """Retry run by run, in the given order: retrying an ended run retries all its failed steps."""
    runs: dict[str, list[StoredLetter]] = {}
    for letter in letters:
        runs.setdefault(letter.run_id, []).append(letter)
    turns = asyncio.Semaphore(RETRIED_AT_ONCE)
    unavailable: list[Unavailable] = []

    async def retry_of(run: list[StoredLetter]) -> list[RetryOutcome]:
        async with turns:
            return [await _retry(app, principal, letter, reason, unavailable) for letter in run]

    groups = await asyncio.gather(*map(retry_of, runs.values()))
    return [outcome for group in groups for outcome in group]


async def _retry(
    app: App, principal: Principal, letter: StoredLetter, reason: str, unavailable: list[Unavailable]
) -> RetryOutcome:
    """Retry one step, unless a retry of its run already did, or an `unavailable` service was found."""
    if unavailable:
        return RetryOutcome(*letter.key, retried=False, why=f"not tried: {unavailable[0]}")
    now = await dead_letters.load_letter(app.db, principal.tenant_id, *letter.key)
    if now is not None and now.status is LetterStatus.RESOLVED:
        if now.resolution is Resolved.RETRY and letter.status is not LetterStatus.RESOLVED:
            return RetryOutcome(*letter.key, retried=True, why=None)
        return RetryOutcome(*letter.key, retried=False, why=f"already resolved: {now.resolution} by {now.resolved_by}")
    if now is not None and now.reported_at > letter.reported_at and now.status is letter.status:
        # a retry of its run has tried it, and it has failed again
        return RetryOutcome(*letter.key, retried=True, why=None)
    try:
        await settle_step(app, principal, *letter.key, Edit(ResolutionKind.RETRY), reason=reason)
    except OperationError as error:
        if isinstance(error, Unavailable):
            unavailable.append(error)
        return RetryOutcome(*letter.key, retried=False, why=str(error))
    return RetryOutcome(*letter.key, retried=True, why=None)


async def _abort(app: App, principal: Principal, letter: StoredLetter, order: LetterOrder) -> None:
    """Abort the run, which resolves all its letters."""
    tenant_id, details = principal.tenant_id, {"reason": order.reason}
    async with transaction(app.db) as connection:
        await record_action(connection, tenant_id, *letter.key, order.action, details=details, by=principal.name)
        letters = await dead_letters.load_open_letters(connection, tenant_id, letter.run_id)
        await end_run(app, principal, letter.run_id, order.reason or "aborted from the dead-letter inbox")
        for each in letters:
            await dead_letters.close(connection, tenant_id, each, Resolved.ABORT, by=principal.name)


async def _dismiss(app: App, principal: Principal, letter: StoredLetter, order: LetterOrder) -> None:
    """Close a letter without touching its run; a parked step cannot be dismissed, because its run waits."""
    if letter.status is LetterStatus.PARKED:
        raise WrongState(order.action, letter.status, f"step {letter.step_id!r}")
    details = {"reason": order.reason}
    async with transaction(app.db) as connection:
        await record_action(
            connection, principal.tenant_id, *letter.key, order.action, details=details, by=principal.name
        )
        await dead_letters.close(connection, principal.tenant_id, letter, Resolved.DISMISS, by=principal.name)


async def _load(app: App, principal: Principal, run_id: str, step_id: str) -> StoredLetter:
    key = checked_run_id(run_id), step_id
    letter = await dead_letters.load_letter(app.db, principal.tenant_id, *key) if "\x00" not in step_id else None
    if letter is None:
        raise NotFound("dead letter", f"{run_id}/{step_id}")
    return letter
