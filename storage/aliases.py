"""The tables of aliases and of their moves: which version a name stands for, and who moved it, when and why."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import asyncpg

from dag.aliases import STABLE, Move, MoveKind, Target
from storage.db import Database, NotStored

LOCK_DEFINITION = """
SELECT true FROM definitions WHERE tenant_id = $1 AND definition_id = $2 AND version = 1 FOR NO KEY UPDATE"""
LOAD_ALIASES = """
SELECT definition_id, alias, version, percent FROM definition_aliases
 WHERE tenant_id = $1 AND definition_id = ANY($2)
 ORDER BY definition_id, alias"""
SET_ALIAS = """
INSERT INTO definition_aliases (tenant_id, definition_id, alias, version, percent) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, definition_id, alias) DO UPDATE SET version = excluded.version, percent = excluded.percent"""
REMOVE_ALIAS = "DELETE FROM definition_aliases WHERE tenant_id = $1 AND definition_id = $2 AND alias = $3"
INSERT_MOVE = """
INSERT INTO alias_moves (tenant_id, definition_id, alias, kind, from_version, from_percent, to_version, to_percent,
                         moved_by, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
LIST_MOVES = """
SELECT move_id, alias, kind, from_version, from_percent, to_version, to_percent, moved_by, moved_at, reason
  FROM alias_moves
 WHERE tenant_id = $1 AND definition_id = $2 AND ($4::bigint IS NULL OR move_id < $4)
 ORDER BY move_id DESC
 LIMIT $3"""
LOAD_STABLE_MOVES = """
SELECT kind, to_version, moved_by FROM alias_moves
 WHERE tenant_id = $1 AND definition_id = $2 AND alias = $3
 ORDER BY move_id"""


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """One move of an alias, as it was recorded: never changed, never removed."""

    move_id: int
    move: Move
    kind: MoveKind
    moved_by: str
    moved_at: dt.datetime
    reason: str


async def lock_definition(db: Database, tenant_id: str, definition_id: str) -> bool:
    """Let no other transaction move the definition's aliases until this one ends; False if there is no definition."""
    return await db.fetchval(LOCK_DEFINITION, tenant_id, definition_id) is True


async def load_aliases(db: Database, tenant_id: str, definition_ids: Sequence[str]) -> dict[str, dict[str, Target]]:
    """Return the aliases of each of the definitions, by alias; a definition without any has an empty dict."""
    found: dict[str, dict[str, Target]] = {definition_id: {} for definition_id in definition_ids}
    for row in await db.fetch(LOAD_ALIASES, tenant_id, list(found)):
        found[row["definition_id"]][row["alias"]] = Target(row["version"], row["percent"])
    return found


async def record_moves(
    db: Database, tenant_id: str, definition_id: str, moves: Iterable[Move], kind: MoveKind, *, by: str, reason: str
) -> None:
    """Move the aliases and write it down. Needs the definition's lock. Raises: NotStored (there is no such version)."""
    for move in moves:
        await _apply(db, tenant_id, definition_id, move)
        before, after = _columns(move.before), _columns(move.after)
        # The canary goes because of a move of `stable`; that one says why.
        named = MoveKind.REMOVE if move.after is None and kind is not MoveKind.ROLLBACK else kind
        await db.execute(INSERT_MOVE, tenant_id, definition_id, move.alias, named, *before, *after, by, reason)


async def list_moves(
    db: Database, tenant_id: str, definition_id: str, *, limit: int = 100, before: int | None = None
) -> list[RecordedMove]:
    """Return the moves of the definition's aliases, newest first; `before` is the last id of the page before."""
    return [_recorded(row) for row in await db.fetch(LIST_MOVES, tenant_id, definition_id, limit, before)]


async def load_stable_history(db: Database, tenant_id: str, definition_id: str) -> list[tuple[MoveKind, int]]:
    """Return where `stable` was moved to, and why, oldest first."""
    rows = await db.fetch(LOAD_STABLE_MOVES, tenant_id, definition_id, STABLE)
    return [(MoveKind(row["kind"]), row["to_version"]) for row in rows]


async def load_last_mover(db: Database, tenant_id: str, definition_id: str) -> str | None:
    """Return who moved `stable` last, None if nobody did."""
    rows = await db.fetch(LOAD_STABLE_MOVES, tenant_id, definition_id, STABLE)
    return rows[-1]["moved_by"] if rows else None


async def _apply(db: Database, tenant_id: str, definition_id: str, move: Move) -> None:
    if move.after is None:
        await db.execute(REMOVE_ALIAS, tenant_id, definition_id, move.alias)
        return
    try:
        await db.execute(SET_ALIAS, tenant_id, definition_id, move.alias, *_columns(move.after))
    except asyncpg.ForeignKeyViolationError:
        raise NotStored("definition version", f"{definition_id} {move.after.version}", tenant_id) from None


def _columns(target: Target | None) -> tuple[int | None, int | None]:
    return (None, None) if target is None else (target.version, target.percent)


def _target(version: int | None, percent: int | None) -> Target | None:
    return None if version is None else Target(version, percent)


def _recorded(row: asyncpg.Record) -> RecordedMove:
    move = Move(
        row["alias"],
        _target(row["from_version"], row["from_percent"]),
        _target(row["to_version"], row["to_percent"]),
    )
    return RecordedMove(row["move_id"], move, MoveKind(row["kind"]), row["moved_by"], row["moved_at"], row["reason"])
