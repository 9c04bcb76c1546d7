"""Definitions: submit, list, show; validate and plan without storing anything."""

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayRead, MaySubmit
from api.errors import problems
from api.parameters import After, AppDep, Limit
from api.runs import MAX_VERSION
from dag import picture
from dag.definition import Definition
from dag.problems import Problem
from dag.values import Json
from operations import definitions
from operations.errors import InvalidDefinition, NotFound
from storage.definitions import StoredDefinition

router = APIRouter(prefix="/v1/definitions", tags=["definitions"])

EXAMPLE = "dsl: 1\nid: hello\nsteps:\n  - {id: greet, handler: echo, config: {value: hi}}\n"


class DefinitionIn(BaseModel):
    """A whole definition: its YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"definition": EXAMPLE}]})

    definition: str | dict[str, Json]


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
    """A published version, and what the validator warned about."""

    warnings: list[ProblemLineOut]


class DefinitionOut(VersionOut):
    """A published version: the definition with every default resolved, and its author's text."""

    body: dict[str, Json]
    source: str

    @classmethod
    def of(cls, stored: StoredDefinition) -> "DefinitionOut":
        """Return what is told of `stored`."""
        return cls.model_validate(stored)


class DefinitionListOut(BaseModel):
    """The newest version of each definition, by id."""

    model_config = ConfigDict(from_attributes=True)

    definitions: list[VersionOut]
    after: str | None


@router.post("", status_code=201, responses=problems(InvalidDefinition))
async def submit_definition(wanted: DefinitionIn, who: MaySubmit, app: AppDep, response: Response) -> PublishedOut:
    """Publish a definition as its next version."""
    published = await definitions.publish(app, who, wanted.definition)
    version = VersionOut.model_validate(published.stored)
    response.headers["Location"] = f"/v1/definitions/{version.definition_id}?version={version.version}"
    warnings = [ProblemLineOut(**asdict(warning)) for warning in published.warnings]
    return PublishedOut(**dict(version), warnings=warnings)


@router.get("", responses=problems())
async def list_definitions(who: MayRead, app: AppDep, limit: Limit = 100, after: After = None) -> DefinitionListOut:
    """List the newest version of each definition."""
    page = await definitions.list_definitions(app, who, limit=limit, after=after)
    return DefinitionListOut.model_validate(page)


@router.post("/validate", responses=problems())
async def validate_definition(wanted: DefinitionIn, _who: MayRead, app: AppDep) -> ValidationOut:
    """Tell everything that is wrong with a definition. Nothing is stored; 200 for an invalid one too."""
    return ValidationOut.of(*await definitions.find_problems(app, wanted.definition))


@router.post("/plan", responses=problems(InvalidDefinition))
async def plan_definition(wanted: DefinitionIn, _who: MayRead, app: AppDep) -> PlanOut:
    """Show how a definition would run. Nothing is stored."""
    definition, warnings = await definitions.check(app, wanted.definition)
    return PlanOut(
        definition=definition.model_dump(mode="json"),
        layers=[list(layer) for layer in picture.layers(definition)],
        critical_path=list(picture.critical_path(definition)),
        mermaid=picture.mermaid(definition),
        warnings=[ProblemLineOut(**asdict(warning)) for warning in warnings],
    )


@router.get("/{definition_id}", responses=problems(NotFound))
async def show_definition(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="by default the newest")] = None,
) -> DefinitionOut:
    """Show a definition."""
    return DefinitionOut.of(await definitions.load(app, who, definition_id, version))
