"""Routes of routing rules, which choose the definition of new documents that name none."""

import datetime as dt
from dataclasses import asdict

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayAdminister, MayRead
from docrail.api.definitions import ProblemLineOut, ValidationOut
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.dag.language.routing import NAMES, Facts
from docrail.dag.values.json_values import Json
from docrail.services.definitions import routing
from docrail.services.definitions.routing import DEFAULT_DEFINITION
from docrail.services.errors import InvalidRouting, Outdated
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE

EXAMPLE = 'rules:\n  - {when: type == "application/xml" and source == "email", definition: invoice@4}\n'

router = APIRouter(prefix="/v1/routing", tags=["routing"])


class RoutingIn(BaseModel):
    """Rules, in order: their YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"routing": EXAMPLE, "revision": 3}]})

    routing: str | dict[str, Json]
    revision: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        description="the one that was changed: refused if somebody else set another meanwhile",
    )


class CheckIn(BaseModel):
    """Rules to validate."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"routing": EXAMPLE}]})

    routing: str | dict[str, Json]


class RoutingOut(BaseModel):
    """The rules in force. `revision` counts how often they were set; 0 means never, and there are none."""

    revision: int
    rules: list[dict[str, Json]]
    source: str = Field(description="as their author wrote them")
    set_by: str | None
    set_at: dt.datetime | None
    names: tuple[str, ...] = Field(default=NAMES, description="what `when` may read")
    default: str = Field(default=DEFAULT_DEFINITION, description="what a document takes that no rule is for")


class RoutingSetOut(RoutingOut):
    """The rules in force, and the validator's warnings."""

    warnings: list[ProblemLineOut]


class FactsIn(BaseModel):
    """The properties of an arriving document that rules read."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"type": "application/xml", "size": 8000, "source": "email"}]}
    )

    type: str = Field(default=UNKNOWN_MEDIA_TYPE, max_length=200)
    size: int = Field(default=1, strict=True, ge=0, description="bytes")
    source: str = Field(default="", max_length=100)
    file_name: str = Field(default="document", max_length=255)


class RouteOut(BaseModel):
    """The definition for a document, and the number, from 0, of the rule that chose it; null for the default."""

    definition: str
    rule: int | None
    faults: dict[int, str] = Field(description="rules that could not be judged and were passed over, and why")


@router.get("", responses=problems())
async def show_routing(who: MayRead, app: AppDep) -> RoutingOut:
    """Show the routing rules."""
    stored = await routing.show_rules(app, who)
    if stored is None:
        return RoutingOut(revision=0, rules=[], source="", set_by=None, set_at=None)
    return RoutingOut(**asdict(stored))


@router.put("", responses=problems(InvalidRouting, Outdated))
async def set_routing(wanted: RoutingIn, who: MayAdminister, app: AppDep) -> RoutingSetOut:
    """Replace the routing rules."""
    placed = await routing.set_rules(app, who, wanted.routing, revision=wanted.revision)
    warnings = [ProblemLineOut(**asdict(warning)) for warning in placed.warnings]
    return RoutingSetOut(**asdict(placed.stored), warnings=warnings)


@router.post("/validate", responses=problems())
async def validate_routing(wanted: CheckIn, who: MayRead, app: AppDep) -> ValidationOut:
    """Validate routing rules and return all problems. Nothing is stored; invalid ones also return 200."""
    rules, found = await routing.check_rules(app, who, wanted.routing)
    return ValidationOut(valid=rules is not None, problems=[ProblemLineOut(**asdict(problem)) for problem in found])


@router.post("/try", responses=problems())
async def try_routing(wanted: FactsIn, who: MayRead, app: AppDep) -> RouteOut:
    """Show which definition a document would get."""
    found = await routing.route(app, who, Facts(tenant=who.tenant_id, **wanted.model_dump()))
    return RouteOut(definition=found.definition or DEFAULT_DEFINITION, rule=found.rule, faults=dict(found.faults))
