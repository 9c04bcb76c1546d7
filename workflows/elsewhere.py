"""Send an activity through its task queue, if the worker that runs the workflow may lack what it needs.

Temporal prefers to run an activity on the worker that has just scheduled it, without the queue: a worker that lacks a
setting would get the same step again and again.
"""

from typing import Any

from temporalio import workflow
from temporalio.worker import (
    Interceptor,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from docrail.workflows.contract.messages import AttemptRequest


class QueueOnly(Interceptor):
    """Heeds `AttemptRequest.elsewhere`."""

    def workflow_interceptor_class(self, _: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        """Return the interceptor of every workflow."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name there
        match input.args:
            case [AttemptRequest(elsewhere=True)]:
                input.disable_eager_execution = True
        return super().start_activity(input)
