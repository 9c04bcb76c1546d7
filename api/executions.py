"""Routes to submit a definition and trigger its run later."""

import datetime as dt

from fastapi import APIRouter
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from docrail.api.auth import MayRead, MaySubmit
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.dag.language.statuses import RunStatus
from docrail.dag.language.version_refs import MAX_VERSION
from docrail.dag.values.json_values import Json
from docrail.services.errors import InvalidDefinition, KeyConflict, NotFound
from docrail.services.runs import executions
from docrail.services.runs.models import Execution

router = APIRouter(prefix="/v1/workflow", tags=["workflow"])


class SubmissionIn(BaseModel):
    """The definition to run later: `ID`, `ID@VERSION`, `ID@ALIAS`, or a whole definition, which is published first."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"definition": "invoice"}]})

    definition: str | dict[str, Json]
    version: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MAX_VERSION,
        description="by default what the alias `stable` or `canary` says",
    )


class TriggerIn(BaseModel):
    """The run's inputs."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"inputs": {"document_id": "doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"}}]}
    )

    inputs: dict[str, Json] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("inputs", "input_params"),
        description="`input_params` is accepted as another word for it",
    )


class ExecutionOut(BaseModel):
    """A submitted definition; `run_id` is null until it is triggered, and then at `/v1/runs/{run_id}`."""

    execution_id: str = Field(examples=["exe_5d4e0f9c6c4b3a2d4e5f8a7b6c"])
    workflow_definition_id: str = Field(examples=["invoice"])
    version: int
    status: RunStatus = Field(
        description="pending until it is triggered, the answer to which is running; then the run's"
    )
    run_id: str | None
    created_at: dt.datetime
    triggered_at: dt.datetime | None

    @classmethod
    def of(cls, execution: Execution, status: RunStatus) -> "ExecutionOut":
        """Return the response model of `execution`."""
        return cls(
            execution_id=execution.execution_id,
            workflow_definition_id=execution.definition_id,
            version=execution.version,
            status=status,
            run_id=execution.run_id,
            created_at=execution.created_at,
            triggered_at=execution.triggered_at,
        )


@router.post("", status_code=201, responses=problems(NotFound, InvalidDefinition))
async def submit_workflow(submission: SubmissionIn, who: MaySubmit, app: AppDep) -> ExecutionOut:
    """Validate and store a definition for a run. Nothing starts."""
    execution = await executions.submit(app, who, submission.definition, submission.version)
    return ExecutionOut.of(execution, RunStatus.PENDING)


@router.get("/{execution_id}", responses=problems(NotFound))
async def show_workflow(execution_id: str, who: MayRead, app: AppDep) -> ExecutionOut:
    """Show a submitted definition and the status of its run: pending until it is triggered."""
    return ExecutionOut.of(*await executions.show(app, who, execution_id))


@router.post("/trigger/{execution_id}", status_code=202, responses=problems(NotFound, KeyConflict))
async def trigger_workflow(
    execution_id: str, who: MaySubmit, app: AppDep, wanted: TriggerIn | None = None
) -> ExecutionOut:
    """Start the run. Repeating it with the same inputs returns the same result and starts nothing."""
    inputs = (wanted or TriggerIn()).inputs
    return ExecutionOut.of(await executions.trigger(app, who, execution_id, inputs), RunStatus.RUNNING)
