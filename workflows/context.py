"""What a run is told of itself, as expressions read it, and what stands for its callback URLs."""

from collections.abc import Iterator, Mapping

from temporalio import workflow

from dag.calls import Callback
from dag.kinds import WaitFor
from dag.plan import Step
from dag.values import Json
from workflows.contract import RunRequest


def placeholders(steps: tuple[Step, ...]) -> dict[str, Json]:
    """Return what stands for each webhook's URL: activities put the real one there, so that no history holds it.

    The random part keeps a document's text from asking for one.
    """
    waiting = [step.id for step in steps if step.definition.wait and step.definition.wait.for_ is WaitFor.WEBHOOK]
    if not waiting:
        return {}
    nonce = workflow.uuid4().hex
    return {step_id: f"callback://{nonce}/{step_id}" for step_id in waiting}


def own_callbacks(run_id: str, steps: tuple[Step, ...], run: Mapping[str, Json]) -> Iterator[Callback]:
    """Yield what each of the run's placeholders asks for; `run` is that word of its context."""
    placeholders = run.get("callbacks", {})
    for step in steps:
        if step.definition.wait and step.id in placeholders:
            yield Callback(
                placeholder=placeholders[step.id],
                run_id=run_id,
                step_id=step.id,
                timeout_seconds=step.definition.wait.timeout_seconds,
            )


def context_of(request: RunRequest, callbacks: dict[str, Json]) -> dict[str, Json]:
    """Return the words of the run's context, as expressions read them."""
    run = {"id": request.run_id, "tenant_id": request.tenant_id, "callbacks": callbacks}
    workflow_ = {"id": request.run_id, "definition": request.definition["id"], "version": request.version}
    return {"run": run, "workflow": workflow_, "document": request.document}
