"""Move a definition's aliases, undo the last move, and list the moves. Every move is recorded."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import NotStored, transaction
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.version_refs import (
    ALIAS_RULE,
    CANARY,
    STABLE,
    Aliases,
    Move,
    MoveKind,
    Target,
    is_alias,
    move_alias,
    moved,
    undo,
)
from docrail.dag.values.problems import is_id
from docrail.services.access.models import Principal
from docrail.services.app import App, Registry
from docrail.services.definitions import repository
from docrail.services.definitions.models import MovePage, Undone
from docrail.services.definitions.repository import load_rules
from docrail.services.errors import InvalidInput, NotFound, NothingToUndo


async def load_aliases(app: App, principal: Principal, definition_id: str) -> dict[str, Target]:
    """Return the definition's aliases and their targets. Raises: NotFound."""
    found: dict[str, Target] = {}
    if is_id(definition_id):
        found = (await repository.load_aliases(app.db, principal.tenant_id, [definition_id]))[definition_id]
    if not found:
        raise NotFound("definition", definition_id)
    return found


async def set_alias(
    app: App, principal: Principal, definition_id: str, alias: str, target: Target, *, reason: str = ""
) -> Aliases:
    """Point the alias to a version, and return all aliases. Moving `stable` ends a canary.

    Raises: NotFound (no such definition or version), InvalidInput.
    """
    async with _changing(app, principal, definition_id) as (connection, aliases):
        if problems := _problems(aliases, alias, target):
            raise InvalidInput(problems)
        moves = move_alias(aliases, alias, target)
        await _record(connection, principal, definition_id, moves, MoveKind.SET, reason)
        return moved(aliases, moves)


async def remove_alias(app: App, principal: Principal, definition_id: str, alias: str, *, reason: str = "") -> Aliases:
    """Remove an alias, and return the remaining ones. Raises: NotFound, InvalidInput (`stable` cannot be removed)."""
    async with _changing(app, principal, definition_id) as (connection, aliases):
        if alias == STABLE:
            message = "cannot be removed: it is what new runs get; move it to another version"
            raise InvalidInput([InputProblem("alias", message)])
        if alias not in aliases:
            raise NotFound("alias", f"{definition_id}@{alias}")
        if (rule := await _rule_for(connection, principal, f"{definition_id}@{alias}")) is not None:
            message = f"cannot be removed: the routing rule {rule} sends documents to it; change that rule first"
            raise InvalidInput([InputProblem("alias", message)])
        moves = move_alias(aliases, alias, None)
        await _record(connection, principal, definition_id, moves, MoveKind.REMOVE, reason)
        return moved(aliases, moves)


async def roll_back(app: App, principal: Principal, definition_id: str, *, reason: str = "") -> Undone:
    """Undo the last change of the version for new runs: end the canary; without one, move `stable` back.

    Open runs are unaffected. Raises: NotFound, NothingToUndo.
    """
    async with _changing(app, principal, definition_id) as (connection, aliases):
        history = await repository.load_stable_history(connection, principal.tenant_id, definition_id)
        moves = undo(aliases, history)
        if not moves:
            raise NothingToUndo(definition_id)
        await _record(connection, principal, definition_id, moves, MoveKind.ROLLBACK, reason)
        return Undone(definition_id, moved(aliases, moves), list(moves))


async def list_moves(
    app: App, principal: Principal, definition_id: str, *, limit: int = 100, after: int | None = None
) -> MovePage:
    """Return a page of the moves of the definition's aliases, newest first. Raises: NotFound."""
    await load_aliases(app, principal, definition_id)
    found = await repository.list_moves(app.db, principal.tenant_id, definition_id, limit=limit + 1, before=after)
    return MovePage(found[:limit], found[limit - 1].move_id if len(found) > limit else None)


async def promote(
    app: Registry, principal: Principal, definition_id: str, version: int, *, only_first: bool, reason: str = ""
) -> Aliases:
    """Point `stable` to a version that was just published, and return all aliases.

    With `only_first`, only if the definition has no `stable` yet: it always has one from its first version on.
    """
    before = (await repository.load_aliases(app.db, principal.tenant_id, [definition_id]))[definition_id]
    if _is_promoted(before, version, only_first=only_first):
        return before  # without the lock: many runs of the same inline definition may start at once
    async with _changing(app, principal, definition_id) as (connection, aliases):
        if _is_promoted(aliases, version, only_first=only_first):
            return aliases
        moves = move_alias(aliases, STABLE, Target(version))
        await _record(connection, principal, definition_id, moves, MoveKind.PUBLISH, reason)
        return moved(aliases, moves)


def _is_promoted(aliases: Aliases, version: int, *, only_first: bool) -> bool:
    return aliases.get(STABLE) == Target(version) or (only_first and STABLE in aliases)


def _problems(aliases: Aliases, alias: str, target: Target) -> Sequence[InputProblem]:
    if not is_alias(alias):
        return [InputProblem("alias", ALIAS_RULE)]
    if alias != CANARY:
        message = f"only {CANARY!r} takes a share of new runs"
        return [] if target.percent is None else [InputProblem("percent", message)]
    if target.percent is None:
        return [InputProblem("percent", "is required: the share of new runs that the canary gets, 0 to 100")]
    if aliases.get(STABLE) == Target(target.version):
        message = f"is the version of {STABLE!r}: expected another one for the canary"
        return [InputProblem("version", message)]
    return []


async def _rule_for(connection: PoolConnectionProxy, principal: Principal, ref: str) -> int | None:
    """Return the index of the tenant's first routing rule that uses `ref`, or None: removing `ref` would break it."""
    stored = await load_rules(connection, principal.tenant_id)
    rules = stored.rules if stored else []
    return next((number for number, rule in enumerate(rules) if rule["definition"] == ref), None)


@asynccontextmanager
async def _changing(
    app: Registry, principal: Principal, definition_id: str
) -> AsyncIterator[tuple[PoolConnectionProxy, Mapping[str, Target]]]:
    """Open a transaction that locks the definition's aliases, and yield it with the aliases. Raises: NotFound."""
    async with transaction(app.db) as connection:
        known = is_id(definition_id) and await repository.lock_definition(
            connection, principal.tenant_id, definition_id
        )
        if not known:
            raise NotFound("definition", definition_id)
        found = await repository.load_aliases(connection, principal.tenant_id, [definition_id])
        yield connection, found[definition_id]


async def _record(
    connection: PoolConnectionProxy,
    principal: Principal,
    definition_id: str,
    moves: Sequence[Move],
    kind: MoveKind,
    reason: str,
) -> None:
    try:
        await repository.record_moves(
            connection, principal.tenant_id, definition_id, moves, kind, by=principal.name, reason=reason
        )
    except NotStored:
        missing = next(move.after.version for move in moves if move.after is not None)
        raise NotFound("definition", f"{definition_id} version {missing}") from None
