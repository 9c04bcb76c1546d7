"""What a retry of a run keeps of the runs inside it: the states in which those ended that are to be done again."""

from collections.abc import Iterator

from temporalio.client import WorkflowExecutionStatus

from dag.inputs import InputProblem
from dag.kinds import StepKind
from dag.plan import Plan, Step, plan_of
from dag.retry import Retry, Who, plan_retry
from dag.rewind import save
from dag.state import RunState, StepStatus
from dag.values import Json
from operations.app import App
from operations.engine import describe
from operations.errors import InvalidInput, NotFound
from operations.principal import Principal
from operations.saved import request_of, saved_state
from workflows.contract import RunRequest, child_run_id, nested_key

MOST_INNER = 200
"""Runs inside a retried one that are asked for their state: a worker replays each. Beyond that a person decides."""

_ENDED_BADLY = (WorkflowExecutionStatus.FAILED, WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED)


async def inner_states(
    app: App, principal: Principal, request: RunRequest, retry: Retry, who: Who
) -> dict[str, dict[str, Json]]:
    """Return the rewound states of the failed runs inside one that is retried, at any depth, by run id.

    Raises: InvalidInput if there are more than MOST_INNER, Unavailable, TooLarge.
    """
    states: dict[str, dict[str, Json]] = {}
    pending = list(_to_redo(request, plan_of(request.definition, request.semantics), retry.state))
    while pending:
        if len(states) >= MOST_INNER:
            message = f"more than {MOST_INNER} runs inside it are to be retried: give their step an output, or skip it"
            raise InvalidInput([InputProblem("run_id", message)])
        run_id, digest = pending.pop()
        try:
            description = await describe(app, principal.tenant_id, run_id)
        except NotFound:  # it never began, or Temporal has forgotten it
            continue
        inner = await request_of(app, description)
        if description.status not in _ENDED_BADLY or inner.digest != digest:
            continue
        plan = plan_of(inner.definition, inner.semantics)
        kept = plan_retry(plan, plan, await saved_state(app, description), {}, who)
        states[run_id] = save(plan, kept.state)
        pending += _to_redo(inner, plan, kept.state)
    return states


def _to_redo(request: RunRequest, plan: Plan, run: RunState) -> Iterator[tuple[str, str]]:
    """Yield the ids, and the definitions' digests, of the runs that a rewound state is about to start again."""
    for step in plan.steps:
        state = run.steps[step.index]
        if step.kind is StepKind.WORKFLOW and state.status is StepStatus.PENDING:
            for key in (
                [None]
                if state.fan is None
                else [item.key for item in state.fan.items if item.status is StepStatus.PENDING]
            ):
                yield child_run_id(request.run_id, step.id, key), _digest(request, step)


def _digest(request: RunRequest, step: Step) -> str:
    nested = step.definition.workflow
    assert nested is not None, "only workflow steps have nested runs"
    return request.nested[nested_key(nested)].digest
