"""Routes of routing rules, which choose the definition of new documents that name none."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayAdminister, MayRead
from docrail.api.errors import problems
from docrail.api.parameters import MOST, AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.language.routing import Facts
from docrail.dag.values.json_values import Json
from docrail.services.definitions import routing
from docrail.services.definitions.models import ChosenRoute, RulesSet, StoredRules, Validation
from docrail.services.errors import InvalidRouting, Outdated
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE
from docrail.services.model_config import WHOLE

EXAMPLE = 'rules:\n  - {when: type == "application/xml" and source == "email", definition: invoice@4}\n'

router = PrefixRouter(prefix="/v1/routing", tags=["routing"])


class RoutingIn(BaseModel):
    """Rules, in order: their YAML or JSON text (problems then have lines and columns), or a JSON object."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"routing": EXAMPLE, "revision": 3}]})

    routing: str | dict[str, Json]
    revision: Annotated[int, Field(strict=True, ge=0, le=MOST), WHOLE] | None = Field(
        default=None,
        description="the one that was changed: refused if the rules were replaced since",
    )


class CheckIn(BaseModel):
    """Rules to validate."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"routing": EXAMPLE}]})

    routing: str | dict[str, Json]


class FactsIn(BaseModel):
    """The properties of an arriving document that rules read."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"type": "application/xml", "size": 8000, "source": "email"}]}
    )

    type: str = Field(default=UNKNOWN_MEDIA_TYPE, max_length=200)
    size: Annotated[int, Field(strict=True, ge=0, le=MOST), WHOLE] = Field(default=1, description="bytes")
    source: str = Field(default="", max_length=100)
    file_name: str = Field(default="document", max_length=255)


@router.get("", responses=problems())
async def show_routing(who: MayRead, app: AppDep) -> StoredRules:
    """Show the routing rules."""
    return await routing.show_rules(app, who)


@router.put("", responses=problems(InvalidRouting, Outdated))
async def set_routing(wanted: RoutingIn, who: MayAdminister, app: AppDep) -> RulesSet:
    """Replace the routing rules."""
    return await routing.set_rules(app, who, wanted.routing, revision=wanted.revision)


@router.post("/validate", responses=problems())
async def validate_routing(wanted: CheckIn, who: MayRead, app: AppDep) -> Validation:
    """Validate routing rules and return all problems. Nothing is stored; invalid ones also return 200."""
    return await routing.validate_rules(app, who, wanted.routing)


@router.post("/try", responses=problems())
async def try_routing(wanted: FactsIn, who: MayRead, app: AppDep) -> ChosenRoute:
    """Show which definition a document would get."""
    return await routing.route(app, who, Facts(tenant=who.tenant_id, **wanted.model_dump()))
