"""Definitions: publish, list, show, compare; validate and plan without storing anything."""

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from api.aliases import AliasesMap, Reason, aliases_map
from api.auth import MayRead, MaySubmit
from api.errors import problems
from api.parameters import After, AppDep, Limit
from dag import picture
from dag.aliases import MAX_VERSION, STABLE, Aliases
from dag.definition import Definition, to_json
from dag.diff import ChangeKind
from dag.problems import Problem
from dag.values import Json
from operations import definitions
from operations.errors import Damaged, FailedTests, InvalidDefinition, NotFound
from storage.definitions import DefinitionLine, StoredDefinition

router = APIRouter(prefix="/v1/definitions", tags=["definitions"])

EXAMPLE = "dsl: 1\nid: hello\nsteps:\n  - {id: greet, handler: echo, config: {value: hi}}\n"


class DefinitionIn(BaseModel):
    """A whole definition: its YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"definition": EXAMPLE}]})

    definition: str | dict[str, Json]


class PublishIn(DefinitionIn):
    """A definition to publish. `promote` lets new runs get it at once; the first version of a definition always is."""

    promote: bool = Field(default=True, strict=True)
    reason: Reason = ""


class ProblemLineOut(BaseModel):
    """One thing to change in a definition. `line` and `column`, from 1, are told of a text."""

    model_config = ConfigDict(from_attributes=True)

    code: str
    message: str
    path: str
    line: int | None
    column: int | None
    suggestion: str | None
    severity: Literal["error", "warning"]


class ValidationOut(BaseModel):
    """Whether a definition would be accepted, and everything to tell about it."""

    valid: bool
    problems: list[ProblemLineOut]

    @classmethod
    def of(cls, definition: Definition | None, found: list[Problem]) -> "ValidationOut":
        """Return what is told of the validator's answer."""
        return cls(valid=definition is not None, problems=[ProblemLineOut(**asdict(problem)) for problem in found])


class PlanOut(BaseModel):
    """How a definition would run: steps that start together, the longest chain, a Mermaid flowchart, all defaults."""

    definition: dict[str, Json]
    layers: list[list[str]]
    critical_path: list[str]
    mermaid: str
    warnings: list[ProblemLineOut]


class VersionOut(BaseModel):
    """A published version's identity. The same content again is the same version."""

    model_config = ConfigDict(from_attributes=True)

    definition_id: str
    version: int
    digest: str = Field(description="sha256 of the definition's canonical JSON, every default resolved")
    created_at: dt.datetime


class PublishedOut(VersionOut):
    """A published version, what the aliases name now, and what the validator warned about."""

    aliases: AliasesMap
    warnings: list[ProblemLineOut]


class DefinitionOut(VersionOut):
    """A published version: the definition with every default resolved, and its author's text."""

    body: dict[str, Json]
    source: str

    @classmethod
    def of(cls, stored: StoredDefinition) -> "DefinitionOut":
        """Return what is told of `stored`."""
        return cls.model_validate(stored)


class DefinitionLineOut(VersionOut):
    """The newest version of a definition, and what its aliases name."""

    aliases: AliasesMap

    @classmethod
    def of(cls, line: DefinitionLine, aliases: Aliases) -> "DefinitionLineOut":
        """Return what is told of `line`."""
        return cls(**dict(VersionOut.model_validate(line)), aliases=aliases_map(aliases))


class DefinitionListOut(BaseModel):
    """The newest version of each definition, by id."""

    definitions: list[DefinitionLineOut]
    after: str | None


class VersionListOut(BaseModel):
    """A definition's versions, newest first, and what its aliases name."""

    versions: list[VersionOut]
    aliases: AliasesMap
    after: int | None


class ChangeOut(BaseModel):
    """One field that differs; `old` is null where there was none, `new` where there is none any more."""

    model_config = ConfigDict(from_attributes=True)

    kind: ChangeKind
    path: str
    old: Json
    new: Json


class StepDiffOut(BaseModel):
    """A step that both versions have, and what is different about it."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    changes: list[ChangeOut]


class DiffOut(BaseModel):
    """How the version `to_version` differs from `from_version`: steps, and in `fields` everything else."""

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
    """Publish a definition as its next version, and let new runs get it."""
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
    """Give the JSON Schema of a definition, for editors. A definition whose id is `schema` is at `schema@stable`."""
    return await definitions.schema(app)


@router.post("/validate", responses=problems())
async def validate_definition(wanted: DefinitionIn, who: MayRead, app: AppDep) -> ValidationOut:
    """Tell everything that is wrong with a definition. Nothing is stored; 200 for an invalid one too."""
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
    """Tell how two versions differ: steps added, removed and changed, field by field, and everything else."""
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
