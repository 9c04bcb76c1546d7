"""Routes of definitions, their aliases and handlers.

Definitions: publish, list, show, compare; validate and plan without storing anything. Aliases (`stable`, the canary and
others): move, roll back, list the moves. Handlers: list and show, with the JSON Schema of their configs and outputs.

In one file because the three share their paths and response models.
"""

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayOperateRuns, MayRead, MaySubmit
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, Limit
from docrail.dag.language import picture
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.difference import ChangeKind
from docrail.dag.language.version_refs import MAX_VERSION, STABLE, Aliases, Move, MoveKind, Target
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem
from docrail.services.definitions import aliases, handlers
from docrail.services.definitions import service as definitions
from docrail.services.definitions.models import DefinitionLine, RecordedMove, StoredDefinition
from docrail.services.errors import Damaged, FailedTests, InvalidDefinition, NotFound, NothingToUndo, WrongState

router = APIRouter(prefix="/v1/definitions", tags=["definitions"])


EXAMPLE = "dsl: 1\nid: hello\nsteps:\n  - {id: greet, handler: echo, config: {value: hi}}\n"


class DefinitionIn(BaseModel):
    """A whole definition: its YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"definition": EXAMPLE}]})

    definition: str | dict[str, Json]


Reason = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]


class PublishIn(DefinitionIn):
    """A definition to publish. `promote` makes new runs use it; a definition's first version always is promoted."""

    promote: bool = Field(default=True, strict=True)
    reason: Reason = ""


class ProblemLineOut(BaseModel):
    """One problem in a definition. `line` and `column`, from 1, are given for text."""

    model_config = ConfigDict(from_attributes=True)

    code: str
    message: str
    path: str
    line: int | None
    column: int | None
    suggestion: str | None
    severity: Literal["error", "warning"]


class ValidationOut(BaseModel):
    """Whether a definition is valid, and all problems found."""

    valid: bool
    problems: list[ProblemLineOut]

    @classmethod
    def of(cls, definition: Definition | None, found: list[Problem]) -> "ValidationOut":
        """Return the response model of a validation."""
        return cls(valid=definition is not None, problems=[ProblemLineOut(**asdict(problem)) for problem in found])


class PlanOut(BaseModel):
    """How a definition runs: parallel steps by layer, the longest chain, a Mermaid flowchart, and all defaults."""

    definition: dict[str, Json]
    layers: list[list[str]]
    critical_path: list[str]
    mermaid: str
    warnings: list[ProblemLineOut]


class VersionOut(BaseModel):
    """The identity of a published version. Publishing the same content again gives the same version."""

    model_config = ConfigDict(from_attributes=True)

    definition_id: str
    version: int
    digest: str = Field(description="sha256 of the definition's canonical JSON, every default resolved")
    created_at: dt.datetime


Percent = Annotated[
    int | None,
    Field(
        strict=True, ge=0, le=100, description="of new runs, chosen by their key; the canary's alone, which needs it"
    ),
]


class TargetOut(BaseModel):
    """The version that an alias points to."""

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


class PublishedOut(VersionOut):
    """A published version, the current aliases, and the validator's warnings."""

    aliases: AliasesMap
    warnings: list[ProblemLineOut]


class DefinitionOut(VersionOut):
    """A published version: the definition with every default resolved, and its author's text."""

    body: dict[str, Json]
    source: str

    @classmethod
    def of(cls, stored: StoredDefinition) -> "DefinitionOut":
        """Return the response model of `stored`."""
        return cls.model_validate(stored)


class DefinitionLineOut(VersionOut):
    """The newest version of a definition, and the definition's aliases."""

    aliases: AliasesMap

    @classmethod
    def of(cls, line: DefinitionLine, aliases: Aliases) -> "DefinitionLineOut":
        """Return the response model of `line`."""
        return cls(**dict(VersionOut.model_validate(line)), aliases=aliases_map(aliases))


class DefinitionListOut(BaseModel):
    """The newest version of each definition, by id."""

    definitions: list[DefinitionLineOut]
    after: str | None


class VersionListOut(BaseModel):
    """A definition's versions, newest first, and its aliases."""

    versions: list[VersionOut]
    aliases: AliasesMap
    after: int | None


class ChangeOut(BaseModel):
    """One field that differs; `old` is null if it was added, `new` if it was removed."""

    model_config = ConfigDict(from_attributes=True)

    kind: ChangeKind
    path: str
    old: Json
    new: Json


class StepDiffOut(BaseModel):
    """A step that exists in both versions, and its differences."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    changes: list[ChangeOut]


class DiffOut(BaseModel):
    """The differences from `from_version` to `to_version`: steps, and in `fields` everything else."""

    definition_id: str
    from_version: int
    to_version: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: list[StepDiffOut]
    reordered: bool = Field(description="whether steps that both have stand in another order")
    fields: list[ChangeOut]


@router.post("", status_code=201, responses=problems(InvalidDefinition, FailedTests))
async def submit_definition(
    wanted: PublishIn,
    who: MaySubmit,
    app: AppDep,
    response: Response,
    run_tests: Annotated[bool, Query(description="run its `tests` first: if one fails, nothing is published")] = False,
) -> PublishedOut:
    """Publish a definition as its next version; by default new runs then use it."""
    published = await definitions.publish(
        app, who, wanted.definition, promoted=wanted.promote, reason=wanted.reason, run_tests=run_tests
    )
    version = VersionOut.model_validate(published.stored)
    response.headers["Location"] = f"/v1/definitions/{version.definition_id}?version={version.version}"
    warnings = [ProblemLineOut(**asdict(warning)) for warning in published.warnings]
    return PublishedOut(**dict(version), aliases=aliases_map(published.aliases), warnings=warnings)


@router.get("", responses=problems())
async def list_definitions(who: MayRead, app: AppDep, limit: Limit = 100, after: After = None) -> DefinitionListOut:
    """List the newest version of each definition."""
    page = await definitions.list_definitions(app, who, limit=limit, after=after)
    lines = [DefinitionLineOut.of(line, page.aliases[line.definition_id]) for line in page.definitions]
    return DefinitionListOut(definitions=lines, after=page.after)


@router.get("/schema", responses=problems())
async def show_schema(_who: MayRead, app: AppDep) -> dict[str, Json]:
    """Return the JSON Schema of a definition, for editors. A definition whose id is `schema` is at `schema@stable`."""
    return await definitions.schema(app)


@router.post("/validate", responses=problems())
async def validate_definition(wanted: DefinitionIn, who: MayRead, app: AppDep) -> ValidationOut:
    """Validate a definition and return all problems. Nothing is stored; an invalid one also returns 200."""
    return ValidationOut.of(*await definitions.find_problems(app, who, wanted.definition))


@router.post("/plan", responses=problems(InvalidDefinition))
async def plan_definition(wanted: DefinitionIn, who: MayRead, app: AppDep) -> PlanOut:
    """Show how a definition would run. Nothing is stored."""
    definition, warnings = await definitions.check(app, who, wanted.definition)
    return PlanOut(
        definition=to_json(definition),
        layers=[list(layer) for layer in picture.layers(definition)],
        critical_path=list(picture.critical_path(definition)),
        mermaid=picture.mermaid(definition),
        warnings=[ProblemLineOut(**asdict(warning)) for warning in warnings],
    )


@router.get("/{definition_id}", responses=problems(NotFound, Damaged))
async def show_definition(
    definition_id: Annotated[str, Path(description="`ID`, `ID@VERSION` or `ID@ALIAS`")],
    who: MayRead,
    app: AppDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="by default what `stable` names")] = None,
) -> DefinitionOut:
    """Show a version of a definition."""
    return DefinitionOut.of(await definitions.load(app, who, definition_id, version))


@router.get("/{definition_id}/versions", responses=problems(NotFound))
async def list_versions(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="the `after` of the page before")] = None,
) -> VersionListOut:
    """List the versions of a definition, newest first."""
    page = await definitions.list_versions(app, who, definition_id, limit=limit, after=after)
    versions = [VersionOut.model_validate(line) for line in page.versions]
    return VersionListOut(versions=versions, aliases=aliases_map(page.aliases), after=page.after)


@router.get("/{definition_id}/diff", responses=problems(NotFound, Damaged))
async def compare_versions(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    old: Annotated[str, Query(alias="from", max_length=64, description="a version or an alias")] = STABLE,
    new: Annotated[
        str | None, Query(alias="to", max_length=64, description="a version or an alias; by default the newest version")
    ] = None,
) -> DiffOut:
    """Compare two versions: steps added, removed and changed, field by field, and everything else."""
    found = await definitions.compare(app, who, definition_id, old, new)
    return DiffOut(
        definition_id=definition_id,
        from_version=found.old.version,
        to_version=found.new.version,
        added=found.diff.added,
        removed=found.diff.removed,
        changed=[StepDiffOut.model_validate(step) for step in found.diff.changed],
        reordered=found.diff.reordered,
        fields=[ChangeOut.model_validate(change) for change in found.diff.fields],
    )


aliases_router = APIRouter(prefix="/v1/definitions/{definition_id}", tags=["definitions"])


WhyQuery = Annotated[str, Query(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]


class AliasIn(BaseModel):
    """The target of an alias, and the reason for the move."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"version": 4, "percent": 10}]})

    version: int = Field(strict=True, ge=1, le=MAX_VERSION)
    percent: Percent = None
    reason: Reason = ""


class ReasonIn(BaseModel):
    """The reason for an action."""

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
        """Return the response model of `found`."""
        return cls(definition_id=definition_id, aliases=aliases_map(found))


class AliasMoveOut(BaseModel):
    """A move of one alias, with its targets before and after; null means that the alias does not exist."""

    alias: str
    before: TargetOut | None
    after: TargetOut | None

    @classmethod
    def of(cls, move: Move) -> "AliasMoveOut":
        """Return the response model of `move`."""
        return cls(alias=move.alias, before=_target(move.before), after=_target(move.after))


class UndoneOut(AliasesOut):
    """The moves of a rollback, and the aliases afterwards."""

    moves: list[AliasMoveOut]


class RecordedMoveOut(AliasMoveOut):
    """A recorded move: who, when and why."""

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
    """Return the response model of a definition's aliases."""
    return {alias: TargetOut.model_validate(target) for alias, target in found.items()}


@aliases_router.get("/aliases", responses=problems(NotFound))
async def list_aliases(definition_id: str, who: MayRead, app: AppDep) -> AliasesOut:
    """List the definition's aliases and the versions they point to."""
    return AliasesOut.of(definition_id, await aliases.load_aliases(app, who, definition_id))


@aliases_router.put("/aliases/{alias}", responses=problems(NotFound))
async def set_alias(definition_id: str, alias: str, wanted: AliasIn, who: MayOperateRuns, app: AppDep) -> AliasesOut:
    """Point an alias to a version. New runs use `stable`; moving it ends a canary."""
    target = Target(wanted.version, wanted.percent)
    found = await aliases.set_alias(app, who, definition_id, alias, target, reason=wanted.reason)
    return AliasesOut.of(definition_id, found)


@aliases_router.delete("/aliases/{alias}", responses=problems(NotFound))
async def remove_alias(
    definition_id: str, alias: str, who: MayOperateRuns, app: AppDep, reason: WhyQuery = ""
) -> AliasesOut:
    """Remove an alias. `stable` cannot be removed."""
    found = await aliases.remove_alias(app, who, definition_id, alias, reason=reason)
    return AliasesOut.of(definition_id, found)


@aliases_router.post("/rollback", responses=problems(NotFound, NothingToUndo))
async def roll_back(definition_id: str, who: MayOperateRuns, app: AppDep, wanted: ReasonIn | None = None) -> UndoneOut:
    """Undo the last change for new runs: end the canary or, without one, move `stable` back.

    Open runs are unaffected.
    """
    undone = await aliases.roll_back(app, who, definition_id, reason=(wanted or ReasonIn()).reason)
    told = AliasesOut.of(definition_id, undone.aliases)
    return UndoneOut(**dict(told), moves=[AliasMoveOut.of(move) for move in undone.moves])


@aliases_router.get("/moves", responses=problems(NotFound))
async def list_moves(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=1, description="the `after` of the page before")] = None,
) -> MoveListOut:
    """List the moves of the definition's aliases: who, when, from which version to which, and why."""
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


handlers_router = APIRouter(prefix="/v1/handlers", tags=["handlers"])


class HandlerOut(BaseModel):
    """A handler."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(examples=["send_webhook"])
    aliases: list[str] = Field(description="other names that definitions may use; a run shows its own name")
    summary: str = Field(description="what it does, in a sentence")
    config_schema: dict[str, Json] = Field(description="JSON Schema of a step's `config`")
    output_schema: dict[str, Json] = Field(description="JSON Schema of what later steps read")


class BrokenHandlerOut(BaseModel):
    """An unusable handler. Definitions that name it are refused."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="the name that definitions would use", examples=["count_words"])
    file: str = Field(description="the file at fault", examples=["handlers/count_words.py"])
    line: int = Field(description="the line at fault, from 1")
    error: str = Field(description="what is wrong", examples=["ModuleNotFoundError: No module named 'nltk'"])


class HandlerListOut(BaseModel):
    """Every handler, by name."""

    handlers: list[HandlerOut]
    broken: list[BrokenHandlerOut] = Field(description="handlers outside the tree that cannot be used")


@handlers_router.get("", responses=problems())
async def list_handlers(_who: MayRead, app: AppDep) -> HandlerListOut:
    """List the handlers."""
    found = handlers.list_handlers(app.catalogue)
    return HandlerListOut(
        handlers=[HandlerOut.model_validate(handler) for handler in found],
        broken=[BrokenHandlerOut.model_validate(each) for each in app.catalogue.broken_handlers],
    )


@handlers_router.get("/{name}", responses=problems(NotFound, WrongState))
async def show_handler(name: str, _who: MayRead, app: AppDep) -> HandlerOut:
    """Show a handler, by its name or an alias."""
    return HandlerOut.model_validate(handlers.load_handler(app.catalogue, name))
