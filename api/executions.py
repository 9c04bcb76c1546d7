"""Routes to submit a definition and trigger its run later."""

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from docrail.api.auth import MayRead, MaySubmit
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.values.json_values import Json
from docrail.services.definitions.models import WITHOUT_VERSION, VersionNumber
from docrail.services.errors import InvalidDefinition, KeyConflict, NotFound
from docrail.services.runs import executions
from docrail.services.runs.models import Execution

router = PrefixRouter(prefix="/v1/workflow", tags=["workflow"])


class SubmissionIn(BaseModel):
    """The definition to run later: `ID`, `ID@VERSION`, `ID@ALIAS`, or a whole definition, which is published first."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"definition": "invoice"}], **WITHOUT_VERSION}
    )

    definition: str | dict[str, Json]
    version: VersionNumber | None = Field(
        default=None, description="by default the version that the alias `stable` or `canary` names"
    )


class TriggerIn(BaseModel):
    """The run's inputs."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"inputs": {"document_id": "doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"}}]}
    )

    inputs: dict[str, Json] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("inputs", "input_params"),
        description="`input_params` is accepted as another name",
    )


@router.post("", status_code=201, responses=problems(NotFound, InvalidDefinition))
async def submit_workflow(submission: SubmissionIn, who: MaySubmit, app: AppDep) -> Execution:
    """Validate and store a definition for a run. Nothing starts."""
    return await executions.submit(app, who, submission.definition, submission.version)


@router.get("/{execution_id}", responses=problems(NotFound))
async def show_workflow(execution_id: str, who: MayRead, app: AppDep) -> Execution:
    """Show a submitted definition and the status of its run: pending until it is triggered."""
    return await executions.show(app, who, execution_id)


@router.post("/trigger/{execution_id}", status_code=202, responses=problems(NotFound, KeyConflict))
async def trigger_workflow(
    execution_id: str, who: MaySubmit, app: AppDep, wanted: TriggerIn | None = None
) -> Execution:
    """Start the run. Repeating it with the same inputs returns the same result and starts nothing."""
    return await executions.trigger(app, who, execution_id, (wanted or TriggerIn()).inputs)
