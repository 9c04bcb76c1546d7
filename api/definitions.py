"""Routes of definitions, their aliases and handlers.

Definitions: publish, list, show, compare; validate and plan without storing anything. Aliases (`stable`, the canary and
others): move, roll back, list the moves. Handlers: list and show, with the JSON Schema of their configs and outputs.

In one file because the three share their paths and request models.
"""

from typing import Annotated

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayOperateRuns, MayRead
from docrail.api.errors import problems
from docrail.api.large_answers import json_response
from docrail.api.parameters import MOST, After, AppDep, Limit, OpenGroups, groups_of
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.explain.graph import Graph
from docrail.dag.language.version_refs import ALIAS_PATTERN, MAX_VERSION, STABLE, Target
from docrail.dag.values.json_values import Json
from docrail.services.definitions import aliases, handlers, lists
from docrail.services.definitions import service as definitions
from docrail.services.definitions.handlers import HandlerInfo, HandlerList
from docrail.services.definitions.models import (
    Comparison,
    DefinitionAliases,
    DefinitionPage,
    DefinitionPlan,
    DefinitionValidation,
    Dependants,
    MovePage,
    Published,
    StoredDefinition,
    TestedDefinition,
    Undone,
    VersionNumber,
    VersionPage,
)
from docrail.services.errors import (
    Damaged,
    FailedTests,
    InvalidDefinition,
    NotFound,
    NothingToUndo,
    Outdated,
    WrongState,
)
from docrail.services.model_config import WHOLE

router = PrefixRouter(prefix="/v1/definitions", tags=["definitions"])

EXAMPLE = "dsl: 1\nid: hello\nsteps:\n  - {id: greet, handler: echo, config: {value: hi}}\n"


class DefinitionIn(BaseModel):
    """A whole definition: its YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"definition": EXAMPLE}]})

    definition: str | dict[str, Json]


Reason = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]


BasedOn = Annotated[
    Annotated[int, Field(strict=True, ge=0, le=MAX_VERSION), WHOLE] | None,
    Field(description="newest version that its author has seen, 0 for none: refused if there is a newer one"),
]


class PublishIn(DefinitionIn):
    """A definition to publish. `promote` makes new runs use it; a definition's first version always is promoted."""

    promote: bool = Field(default=True, strict=True)
    reason: Reason = ""
    based_on: BasedOn = None


Percent = Annotated[
    Annotated[int, Field(strict=True, ge=0, le=100), WHOLE] | None,
    Field(description="of new runs, chosen by their key; the canary's alone, which needs it"),
]


@router.post("", status_code=201, responses=problems(InvalidDefinition, FailedTests, Outdated))
async def submit_definition(
    wanted: PublishIn,
    who: MayOperateRuns,  # publishing moves an alias
    app: AppDep,
    response: Response,
    run_tests: Annotated[bool, Query(description="run its `tests` first: if one fails, nothing is published")] = False,
) -> Published:
    """Publish a definition as its next version; by default new runs then use it."""
    published = await definitions.publish(
        app,
        who,
        wanted.definition,
        promoted=wanted.promote,
        reason=wanted.reason,
        run_tests=run_tests,
        based_on=wanted.based_on,
    )
    response.headers["Location"] = f"/v1/definitions/{published.definition_id}?version={published.version}"
    return published


@router.get("", responses=problems())
async def list_definitions(who: MayRead, app: AppDep, limit: Limit = 100, after: After = None) -> DefinitionPage:
    """List the newest version of each definition."""
    return await lists.list_definitions(app, who, limit=limit, after=after)


@router.get("/schema", responses=problems())
async def show_schema(_who: MayRead, app: AppDep) -> dict[str, Json]:
    """Return the JSON Schema of a definition, for editors. A definition whose id is `schema` is at `schema@stable`."""
    return await definitions.schema(app)


@router.post("/validate", response_model=DefinitionValidation, responses=problems())
async def validate_definition(
    wanted: DefinitionIn,
    who: MayRead,
    app: AppDep,
    *,
    draw: Annotated[bool, Query(description="whether to draw it too, if it is valid")] = False,
    open: OpenGroups = None,  # noqa: A002
) -> Response:
    """Validate a definition and return all problems. Nothing is stored; an invalid one also returns 200."""
    groups = groups_of(open) if draw else None
    found = await definitions.validate_definition(app, who, wanted.definition, drawn_open=groups)
    return await json_response(DefinitionValidation, found)


@router.post("/test", responses=problems(InvalidDefinition))
async def test_definition(wanted: DefinitionIn, who: MayOperateRuns, app: AppDep) -> TestedDefinition:
    """Run the tests that a definition contains. Nothing is stored; 200 also if some fail."""
    return await definitions.run_tests(app, who, wanted.definition)


@router.post("/plan", response_model=DefinitionPlan, responses=problems(InvalidDefinition))
async def plan_definition(wanted: DefinitionIn, who: MayRead, app: AppDep) -> Response:
    """Show how a definition would run. Nothing is stored."""
    return await json_response(DefinitionPlan, await definitions.plan_definition(app, who, wanted.definition))


@router.get("/{definition_id}", response_model=StoredDefinition, responses=problems(NotFound, Damaged))
async def show_definition(
    definition_id: Annotated[str, Path(description="`ID`, `ID@VERSION` or `ID@ALIAS`")],
    who: MayRead,
    app: AppDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="by default what `stable` names")] = None,
) -> Response:
    """Show a version of a definition."""
    return await json_response(StoredDefinition, await definitions.load(app, who, definition_id, version))


@router.get("/{definition_id}/versions", responses=problems(NotFound))
async def list_versions(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="the `after` of the page before")] = None,
) -> VersionPage:
    """List the versions of a definition, newest first."""
    return await lists.list_versions(app, who, definition_id, limit=limit, after=after)


@router.get("/{definition_id}/diff", responses=problems(NotFound, Damaged))
async def compare_versions(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    old: Annotated[str, Query(alias="from", max_length=64, description="a version or an alias")] = STABLE,
    new: Annotated[
        str | None, Query(alias="to", max_length=64, description="a version or an alias; by default the newest version")
    ] = None,
) -> Comparison:
    """Compare two versions: steps added, removed and changed, field by field, and everything else."""
    return await definitions.compare(app, who, definition_id, old, new)


@router.get("/{definition_id}/graph", response_model=Graph, responses=problems(NotFound, Damaged))
async def show_definition_graph(
    definition_id: Annotated[str, Path(description="`ID`, `ID@VERSION` or `ID@ALIAS`")],
    who: MayRead,
    app: AppDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="by default what `stable` names")] = None,
    *,
    open: OpenGroups = None,  # noqa: A002
) -> Response:
    """Draw a version of a definition: at most 300 nodes, each a step or a group of steps."""
    return await json_response(Graph, await definitions.draw(app, who, definition_id, version, groups_of(open)))


@router.get("/{definition_id}/dependants", responses=problems(NotFound))
async def list_dependants(definition_id: str, who: MayRead, app: AppDep) -> Dependants:
    """List the steps of other definitions that run this one, in the versions that an alias names."""
    return await lists.list_dependants(app, who, definition_id)


aliases_router = PrefixRouter(prefix="/v1/definitions/{definition_id}", tags=["definitions"])

AliasName = Annotated[str, Path(json_schema_extra={"pattern": ALIAS_PATTERN}, description="the alias's name")]
RemovableAlias = Annotated[
    str,
    Path(json_schema_extra={"pattern": ALIAS_PATTERN, "not": {"const": STABLE}}, description="the alias's name"),
]

WhyQuery = Annotated[str, Query(max_length=500, pattern=r"^[^\x00]*$", description="recorded with the move")]


class AliasIn(BaseModel):
    """The target of an alias, and the reason for the move."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"version": 4, "percent": 10}]})

    version: VersionNumber
    percent: Percent = None
    reason: Reason = ""


class ReasonIn(BaseModel):
    """The reason for an action."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "totals are wrong since 9:30"}]}
    )

    reason: Reason = ""


@aliases_router.get("/aliases", responses=problems(NotFound))
async def list_aliases(definition_id: str, who: MayRead, app: AppDep) -> DefinitionAliases:
    """List the definition's aliases and the versions they point to."""
    return DefinitionAliases(definition_id, await aliases.load_aliases(app, who, definition_id))


@aliases_router.put("/aliases/{alias}", responses=problems(NotFound))
async def set_alias(
    definition_id: str, alias: AliasName, wanted: AliasIn, who: MayOperateRuns, app: AppDep
) -> DefinitionAliases:
    """Point an alias to a version. New runs use `stable`; moving it ends a canary."""
    target = Target(wanted.version, wanted.percent)
    found = await aliases.set_alias(app, who, definition_id, alias, target, reason=wanted.reason)
    return DefinitionAliases(definition_id, found)


@aliases_router.delete("/aliases/{alias}", responses=problems(NotFound))
async def remove_alias(
    definition_id: str, alias: RemovableAlias, who: MayOperateRuns, app: AppDep, reason: WhyQuery = ""
) -> DefinitionAliases:
    """Remove an alias. `stable` cannot be removed."""
    found = await aliases.remove_alias(app, who, definition_id, alias, reason=reason)
    return DefinitionAliases(definition_id, found)


@aliases_router.post("/rollback", responses=problems(NotFound, NothingToUndo))
async def roll_back(definition_id: str, who: MayOperateRuns, app: AppDep, wanted: ReasonIn | None = None) -> Undone:
    """Undo the last change for new runs: end the canary or, without one, move `stable` back.

    Open runs are unaffected.
    """
    return await aliases.roll_back(app, who, definition_id, reason=(wanted or ReasonIn()).reason)


@aliases_router.get("/moves", responses=problems(NotFound))
async def list_moves(
    definition_id: str,
    who: MayRead,
    app: AppDep,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=1, le=MOST, description="the `after` of the page before")] = None,
) -> MovePage:
    """List the moves of the definition's aliases: who, when, from which version to which, and why."""
    return await aliases.list_moves(app, who, definition_id, limit=limit, after=after)


handlers_router = PrefixRouter(prefix="/v1/handlers", tags=["handlers"])


@handlers_router.get("", responses=problems())
async def list_handlers(_who: MayRead, app: AppDep) -> HandlerList:
    """List the handlers."""
    return HandlerList(handlers.list_handlers(app.catalogue), tuple(app.catalogue.broken_handlers))


@handlers_router.get("/{name}", responses=problems(NotFound, WrongState))
async def show_handler(name: str, _who: MayRead, app: AppDep) -> HandlerInfo:
    """Show a handler, by its name or an alias."""
    return handlers.load_handler(app.catalogue, name)
