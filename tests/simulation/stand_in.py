"""What stands in for nested runs where a definition is tested: a child that ends as the test says, whatever it is."""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.worker import (
    Interceptor,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

with workflow.unsafe.imports_passed_through():
    from docrail.dag.explain.report import RunReport
    from docrail.dag.language.definition import Definition, to_json
    from docrail.dag.language.statuses import RunStatus
    from docrail.dag.values.json_values import Json
    from docrail.workflows.contract.names import Pinned, RunRequest
    from docrail.workflows.value_transfer import outputs_for_outer

STAND_IN = "stand_in"
"""Id of the definition that a test pins for every nested run, workflow type and activity of what runs instead."""

GIVEN = "given"
"""The one input of that definition: all that the step gives its nested run, whose own inputs a test does not know."""

TIMEOUT = timedelta(hours=1)
"""More than any test takes."""


def stand_in() -> Pinned:
    """Return the definition that a test pins for every nested run. It takes anything, and never runs itself."""
    step = {"id": "never", "handler": "noop"}
    definition = {"id": STAND_IN, "inputs": {GIVEN: {"type": "object"}}, "steps": [step]}
    return Pinned(definition=to_json(Definition.model_validate(definition)), version=1, digest="")


@workflow.defn(name=STAND_IN)
class StandIn:
    """A nested run that asks the test what it gives."""

    @workflow.run
    async def run(self, request: RunRequest) -> RunReport:
        """Return a report with the outputs that the test says, or fail as it says."""
        try:
            outputs: dict[str, Json] = await workflow.execute_activity(
                STAND_IN,
                args=[request.run_id, request.inputs[GIVEN]],
                start_to_close_timeout=TIMEOUT,
                heartbeat_timeout=TIMEOUT,  # heartbeats bring it the news that it is cancelled
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ActivityError as error:
            if is_cancelled_exception(error) or not isinstance(error.cause, ApplicationError):
                raise
            raise ApplicationError(error.cause.message, type=error.cause.type, non_retryable=True) from None
        return RunReport(
            run_id=request.run_id,
            tenant_id=request.tenant_id,
            definition_id=STAND_IN,
            version=request.version,
            digest=request.digest,
            status=RunStatus.COMPLETED,
            outputs=await outputs_for_outer(request, outputs),
        )


class StandIns(Interceptor):
    """For a worker: starts a StandIn in the place of each nested run whose definition is pinned by `stand_in`."""

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002 - as Temporal calls it
        """Return what is put around each workflow."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    async def start_child_workflow(self, input: StartChildWorkflowInput) -> workflow.ChildWorkflowHandle[Any, Any]:  # noqa: A002 - as Temporal calls it
        match input.args:
            case [RunRequest(definition={"id": str(definition_id)})] if definition_id == STAND_IN:
                input.workflow = STAND_IN
        return await super().start_child_workflow(input)
