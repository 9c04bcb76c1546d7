"""Show one step of a run in detail: why it is in its state, its input and output as text, and the items of its list."""

import asyncio
import json

from pydantic.dataclasses import dataclass as pydantic_dataclass
from temporalio.client import WorkflowQueryFailedError

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.parts import ValueTooLarge, filled
from docrail.dag.explain.facts import StepExplanation
from docrail.dag.explain.graph import groups_around
from docrail.dag.explain.step_data import ItemProgress, ItemsProgress, StepInput
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.actions import Action
from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, worker_answers
from docrail.services.errors import InvalidInput, NotFound, Unavailable
from docrail.services.model_config import SHOWN
from docrail.services.runs.executing import handle_of
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.explanation import explain_run
from docrail.services.runs.views.graph import StepLine, line_of, load_run
from docrail.services.runs.views.outputs import MAX_SHOWN_BYTES, ask_output
from docrail.services.runs.views.permitted import step_actions
from docrail.workflows.contract.names import STEP_INPUT, STEP_ITEMS

DELETED = "Temporal has deleted the run: inputs and outputs are not kept with its report"

LONGEST_TEXT = 65_536
"""Bytes of a value that are shown; up to MAX_SHOWN_BYTES the whole value can be downloaded."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ShownValue:
    """A JSON value as text, so that no reader rounds its numbers."""

    text: str
    """The beginning of the value, as indented JSON: at most 64 KiB."""
    bytes: int
    """Size of the whole text in UTF-8."""
    cut: bool
    """Whether `text` is only the beginning."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class StepDetail:
    """A step of a run: its state, why it is in it, its input and output, and what the caller may do with it."""

    step: StepLine
    """The step and its state."""
    explanation: StepExplanation
    """Why it is in its state, its attempts, and what it waits for."""
    input: ShownValue | None
    """What it begins with: its config with all values filled in, or the elements of its list; null if it is not known
    yet. Secrets are named, not shown."""
    edited: bool
    """Whether a person gave the input in place of the definition's config."""
    input_problem: str
    """Why the input is not known; empty if it is."""
    output: ShownValue | None
    """What it gave; null without an output."""
    output_problem: str
    """Why an existing output cannot be shown; empty if there is none, or it is shown."""
    actions: list[Action]
    """What the caller may do with it now, and why not."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ItemPage:
    """Items of a step's list, in order."""

    items: list[ItemProgress]
    """The items."""
    after: int | None
    """Pass this as `after` to get the next page; null on the last page."""


async def show_step(app: App, principal: Principal, run_id: str, step_id: str) -> StepDetail:
    """Return a step in detail. Raises: NotFound (the run, the step), Unavailable without a worker."""
    known = await load_run(app, principal, run_id)
    step = known.step(step_id)
    state = known.state_of(step)
    explained = await explain_run(app, principal, run_id, step=step_id)
    begun = (
        StepInput(problem=DELETED) if known.is_deleted else await _asked_input(app, principal, run_id, step_id, None)
    )
    given, input_problem = await _shown_input(app, principal, begun)
    output, output_problem = None, DELETED if known.is_deleted else ""
    if state.status is StepStatus.COMPLETED and not known.is_deleted:
        try:
            output = await asyncio.to_thread(_shown, await ask_output(app, principal, run_id, step_id))
        except InvalidInput as error:
            output_problem = str(error)
    return StepDetail(
        step=line_of(known, step, groups_around(known.plan, step.index)),
        explanation=explained.steps[step_id],
        input=given,
        edited=begun.edited,
        input_problem=input_problem,
        output=output,
        output_problem=output_problem,
        actions=step_actions(principal, known.situation, step, state),
    )


async def show_input(app: App, principal: Principal, run_id: str, step_id: str, *, item: str | None = None) -> Json:
    """Return the whole input of a step, or of an item of its list, with all stored values filled in.

    Raises: NotFound, also if it is not known yet; InvalidInput (too large for one response); Unavailable.
    """
    begun = await _asked_input(app, principal, checked_run_id(run_id), step_id, item)
    if begun.problem:
        raise NotFound("input of the step", f"{run_id} {step_id}")
    try:
        return await _whole(app, principal, begun.value)
    except ValueTooLarge as error:
        raise InvalidInput([InputProblem("input", f"is too large for one response: {error}")]) from error


async def list_items(
    app: App,
    principal: Principal,
    run_id: str,
    step_id: str,
    *,
    status: StepStatus | None = None,
    limit: int = 100,
    after: int | None = None,
) -> ItemPage:
    """Return a page of the items of a step's list; none for a step without a list. Raises: NotFound, Unavailable."""
    place = -1 if after is None else after
    found = await _ask(app, principal, checked_run_id(run_id), STEP_ITEMS, [step_id, status, place, limit])
    if found is None:
        raise NotFound("step", step_id)
    page = ItemsProgress.model_validate(found)
    return ItemPage(list(page.items), page.after)


async def _asked_input(app: App, principal: Principal, run_id: str, step_id: str, item: str | None) -> StepInput:
    found = await _ask(app, principal, run_id, STEP_INPUT, [step_id, item])
    if found is None:
        raise NotFound("step", step_id)
    return StepInput.model_validate(found)


async def _ask(app: App, principal: Principal, run_id: str, query: str, args: list[Json]) -> Json:
    handle = await handle_of(app, principal.tenant_id, run_id)
    async with worker_answers(app, principal.tenant_id, run_id):
        try:
            return await handle.query(query, args=args, rpc_timeout=WORKER_TIMEOUT)
        except WorkflowQueryFailedError as error:
            raise Unavailable("the run", str(error)) from error


async def _shown_input(app: App, principal: Principal, begun: StepInput) -> tuple[ShownValue | None, str]:
    if begun.problem:
        return None, begun.problem
    try:
        return await asyncio.to_thread(_shown, await _whole(app, principal, begun.value)), ""
    except (ValueTooLarge, Unavailable) as error:
        return None, str(error)


async def _whole(app: App, principal: Principal, value: Json) -> Json:
    try:
        most = MAX_SHOWN_BYTES
        return await filled(app.values, principal.tenant_id, value, most_bytes=most, most_read=most)
    except StorageError as error:
        raise Unavailable("the value store", str(error)) from error


def _shown(value: Json) -> ShownValue:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    encoded = text.encode()
    if len(encoded) <= LONGEST_TEXT:
        return ShownValue(text, len(encoded), cut=False)
    return ShownValue(encoded[:LONGEST_TEXT].decode(errors="ignore"), len(encoded), cut=True)
