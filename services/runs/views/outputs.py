"""Load the full output of a step or a run, and its inputs: a run's report only contains references to stored values."""

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.parts import filled
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import WORKER, WORKER_TIMEOUT, worker_answers
from docrail.services.errors import InvalidInput, NotFound, Unavailable
from docrail.services.runs.executing import describe, handle_of
from docrail.services.runs.saved import request_of
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.reports import show_run
from docrail.workflows.contract.names import OUTPUT

MAX_SHOWN_BYTES = 4 * 2**20
"""Largest value of one answer, with its stored values filled in: while a larger one is parsed, others wait too long."""


async def show_output(app: App, principal: Principal, run_id: str, step_id: str) -> Json:
    """Return the output of a step of the principal's run with all stored values filled in, also after the run's end.

    Raises: NotFound, also for a step without an output; InvalidInput (too large for one response); Unavailable, also if
    the value store is unavailable, or if a report omits the outputs and no worker answers.
    """
    report = await show_run(app, principal, run_id)
    if not report.steps:
        raise Unavailable(WORKER, report.reason)
    step = report.steps.get(step_id)
    if step is None:
        raise NotFound("step", step_id, known=[*report.steps])
    output = await _asked(app, principal, run_id, step_id) if report.step_outputs_omitted else step.output
    if output is None and step.status is not StepStatus.COMPLETED:
        raise NotFound("output of the step", f"{run_id} {step_id}")
    return await _whole(app, principal, output)


async def ask_output(app: App, principal: Principal, run_id: str, step_id: str) -> Json:
    """Return a completed step's output with all stored values filled in, from the run itself.

    Raises: NotFound (the run); InvalidInput (too large for one response); Unavailable.
    """
    return await _whole(app, principal, await _asked(app, principal, run_id, step_id))


async def show_outputs(app: App, principal: Principal, run_id: str) -> Json:
    """Return the outputs of the principal's run with all stored values filled in; none before its end.

    Raises: NotFound; InvalidInput (too large for one response); Unavailable, also if the value store is unavailable.
    """
    return await _whole(app, principal, (await show_run(app, principal, run_id)).outputs)


async def show_inputs(app: App, principal: Principal, run_id: str) -> Json:
    """Return the inputs of the latest attempt of the principal's run, with all stored values filled in.

    Raises: NotFound, also if Temporal has deleted the run; InvalidInput (too large for one response); Unavailable.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    return await _whole(app, principal, (await request_of(app, description)).inputs, "inputs")


async def _asked(app: App, principal: Principal, run_id: str, step_id: str) -> Json:
    """Query a step's output from the run, because a report that was too large omits it."""
    handle = await handle_of(app, principal.tenant_id, run_id)
    async with worker_answers(app, principal.tenant_id, run_id):
        return await handle.query(OUTPUT, step_id, rpc_timeout=WORKER_TIMEOUT)


async def _whole(app: App, principal: Principal, value: Json, name: str = "output") -> Json:
    try:
        most = MAX_SHOWN_BYTES
        return await filled(app.values, principal.tenant_id, value, most_bytes=most, most_read=most)
    except StorageError as error:
        raise Unavailable("the value store", str(error)) from error
    except ValueError as error:
        raise InvalidInput([InputProblem(name, f"is too large for one response: {error}")]) from error
