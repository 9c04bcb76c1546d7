"""Aliases of definitions: what `stable`, the canary and other names stand for; move them, undo, tell who moved what."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayOperateRuns, MayRead
from api.errors import problems
from api.parameters import AppDep, Limit
from dag.aliases import MAX_VERSION, Aliases, Move, MoveKind, Target
from operations import aliases
from operations.errors import NotFound, NothingToUndo
from storage.aliases import RecordedMove

router = APIRouter(prefix="/v1/definitions/{definition_id}", tags=["definitions"])

Reason = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]
Percent = Annotated[
    int | None,
    Field(
        strict=True, ge=0, le=100, description="of new runs, chosen by their key; the canary's alone, which needs it"
    ),
]
WhyQuery = Annotated[str, Query(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]


class TargetOut(BaseModel):
    """What an alias names."""

    model_config = ConfigDict(from_attributes=True)

    version: int
    percent: Percent = None


AliasesMap = Annotated[
    dict[str, TargetOut],
    Field(
        description="by name: `stable` is what new runs get, `canary` what a share of them gets instead",
        examples=[{"stable": {"version": 3}, "canary": {"version": 4, "percent": 10}}],
    ),
]


class AliasIn(BaseModel):
    """What an alias shall name, and why it is moved."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"version": 4, "percent": 10}]})

    version: int = Field(strict=True, ge=1, le=MAX_VERSION)
    percent: Percent = None
    reason: Reason = ""


class ReasonIn(BaseModel):
    """Why something is done."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "totals are wrong since 9:30"}]}
    )

    reason: Reason = ""


class AliasesOut(BaseModel):
    """The aliases of a definition."""

    definition_id: str
    aliases: AliasesMap

    @classmethod
    def of(cls, definition_id: str, found: Aliases) -> "AliasesOut":
        """Return what is told of `found`."""
        return cls(definition_id=definition_id, aliases=aliases_map(found))


class AliasMoveOut(BaseModel):
    """One alias, from what it named to what it names; null is "there is no such alias"."""

    alias: str
    before: TargetOut | None
    after: TargetOut | None

    @classmethod
    def of(cls, move: Move) -> "AliasMoveOut":
        """Return what is told of `move`."""
        return cls(alias=move.alias, before=_target(move.before), after=_target(move.after))


class UndoneOut(AliasesOut):
    """What a rollback moved, and the aliases after it."""

    moves: list[AliasMoveOut]


class RecordedMoveOut(AliasMoveOut):
    """A move as it was recorded: who, when, why."""

    move_id: int
    kind: MoveKind
    moved_by: str
    moved_at: dt.datetime
    reason: str


class MoveListOut(BaseModel):
    """Moves, newest first."""

    moves: list[RecordedMoveOut]
    after: int | None


def aliases_map(found: Aliases) -> dict[str, TargetOut]:
    """Return what is told of a definition's aliases."""
    return {alias: TargetOut.model_validate(target) for alias, target in found.items()}


@router.get("/aliases", responses=problems(NotFound))
async def list_aliases(definition_id: str, who: MayRead, app: AppDep) -> AliasesOut:
    """Tell which versions the definition's aliases name."""
    return AliasesOut.of(definition_id, await aliases.load_aliases(app, who, definition_id))


@router.put("/aliases/{alias}", responses=problems(NotFound))
async def set_alias(definition_id: str, alias: str, wanted: AliasIn, who: MayOperateRuns, app: AppDep) -> AliasesOut:
    """Let an alias name a version. What `stable` names, new runs get; moving it ends a canary."""
    target = Target(wanted.version, wanted.percent)
    found = await aliases.set_alias(app, who, definition_id, alias, target, reason=wanted.reason)
    return AliasesOut.of(definition_id, found)


@router.delete("/aliases/{alias}", responses=problems(NotFound))
async def remove_alias(
    definition_id: str, alias: str, who: MayOperateRuns, app: AppDep, reason: WhyQuery = ""
) -> AliasesOut:
    """Remove an alias. `stable` stays."""
    found = await aliases.remove_alias(app, who, definition_id, alias, reason=reason)
    return AliasesOut.of(definition_id, found)


@router.post("/rollback", responses=problems(NotFound, NothingToUndo))
async def roll_back(definition_id: str, who: MayOperateRuns, app: AppDep, wanted: ReasonIn | None = None) -> UndoneOut:
    """Undo the last change of what new runs get: end the canary; without one, move `stable` back. Open runs stay."""
    undone = await aliases.roll_back(app, who, definition_id, reason=(wanted or ReasonIn()).reason)
    told = AliasesOut.of(definition_id, undone.aliases)
    return UndoneOut(**dict(told), moves=[AliasMoveOut.of(move) for move in undone.moves])


@router.get("/moves", responses=problems(NotFound))
async def list_moves(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=1, description="the `after` of the page before")] = None,
) -> MoveListOut:
    """Tell who moved the definition's aliases, when, from what to what, and why."""
    page = await aliases.list_moves(app, who, definition_id, limit=limit, after=after)
    return MoveListOut(moves=[_recorded(recorded) for recorded in page.moves], after=page.after)


def _recorded(recorded: RecordedMove) -> RecordedMoveOut:
    return RecordedMoveOut(
        **dict(AliasMoveOut.of(recorded.move)),
        move_id=recorded.move_id,
        kind=recorded.kind,
        moved_by=recorded.moved_by,
        moved_at=recorded.moved_at,
        reason=recorded.reason,
    )


def _target(target: Target | None) -> TargetOut | None:
    return None if target is None else TargetOut.model_validate(target)
