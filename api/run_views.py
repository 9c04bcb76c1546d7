"""Routes that show runs as the console draws them, and act on many at once.

The graph with its states, the steps as a list or timeline, one step in detail, and the items of its list.
"""

import asyncio
import hashlib
from typing import Annotated, Any

from fastapi import Header, Query, Response
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from docrail.api.auth import MayOperateRuns, MayRead
from docrail.api.errors import problems
from docrail.api.large_answers import json_response
from docrail.api.parameters import After, AppDep, Limit, OpenGroups, Reason, groups_of
from docrail.api.prefix_router import PrefixRouter
from docrail.api.runs import RunStatusOut, WhyIn
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import MAX_ITEMS
from docrail.dag.values.json_values import Json
from docrail.field_docs import describe_fields
from docrail.services.errors import NotFound, WrongState
from docrail.services.failures.many_runs import MOST_RUNS, BulkAction, RunOutcomes, act_on_runs
from docrail.services.model_config import body
from docrail.services.runs import control
from docrail.services.runs.views import graph, steps
from docrail.services.runs.views.graph import RunGraph, RunStates, StepPage
from docrail.services.runs.views.steps import ItemPage, StepDetail

router = PrefixRouter(prefix="/v1/runs", tags=["runs"])

_UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "unchanged: `If-None-Match` has its `ETag`"}}
_STATES: TypeAdapter[RunStates] = TypeAdapter(RunStates)


@router.get("/{run_id}/graph", response_model=RunGraph, responses=problems(NotFound))
async def show_run_graph(run_id: str, who: MayRead, app: AppDep, *, open: OpenGroups = None) -> Response:  # noqa: A002
    """Draw a run: at most 300 nodes, each a step or a group of steps, with their states.

    Without `open`, the groups around the step to look at first are open.
    """
    wanted = None if open is None else groups_of(open)
    return await json_response(RunGraph, await graph.show_graph(app, who, run_id, wanted))


@router.get("/{run_id}/states", response_model=RunStates, responses=_UNCHANGED | problems(NotFound))
async def show_run_states(
    run_id: str,
    who: MayRead,
    app: AppDep,
    *,
    open: OpenGroups = None,  # noqa: A002
    if_none_match: Annotated[str | None, Header(description="the `ETag` of an earlier answer")] = None,
) -> Response:
    """Show only the states of a drawing's nodes, to follow a run without drawing it again."""
    found = await graph.show_states(app, who, run_id, groups_of(open))
    body = await asyncio.to_thread(_STATES.dump_json, found)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if if_none_match and tag in (each.strip().removeprefix("W/") for each in if_none_match.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


Search = Annotated[
    str,
    Query(max_length=200, description="only steps whose id, title or handler contains this, whatever its case"),
]
StatusQuery = Annotated[StepStatus | None, Query(description="only those with this status")]


@router.get("/{run_id}/steps", response_model=StepPage, responses=problems(NotFound))
async def list_steps(
    run_id: str,
    who: MayRead,
    app: AppDep,
    *,
    search: Search = "",
    status: StatusQuery = None,
    limit: Annotated[int, Query(ge=1, le=5_000, description="most steps on the page")] = 500,
    after: After = None,
) -> Response:
    """List a run's steps in plan order with states and times, as for a timeline."""
    page = await graph.list_steps(app, who, run_id, search=search, status=status, limit=limit, after=after)
    return await json_response(StepPage, page)


@router.get("/{run_id}/steps/{step_id}", response_model=StepDetail, responses=problems(NotFound))
async def show_step(run_id: str, step_id: str, who: MayRead, app: AppDep) -> Response:
    """Show a step: why it is in its state, its input and output as text, its attempts, and the possible actions."""
    return await json_response(StepDetail, await steps.show_step(app, who, run_id, step_id))


class InputOut(BaseModel):
    """A step's whole input: where a run refers to stored values, this contains them."""

    model_config = ConfigDict(json_schema_extra=describe_fields)

    run_id: str
    step_id: str
    item: str | None
    """Key of the item; null for the step itself."""
    input: Json
    """The config with all values filled in, or the elements of the step's list. Secrets are named, not shown."""


ItemKey = Annotated[
    str | None, Query(max_length=1024, description="the key of an item of the step's list, for its input")
]


@router.get("/{run_id}/steps/{step_id}/input", response_model=InputOut, responses=problems(NotFound))
async def show_input(run_id: str, step_id: str, who: MayRead, app: AppDep, item: ItemKey = None) -> Response:
    """Show a step's full input, of any size, or that of an item of its list."""
    given = await steps.show_input(app, who, run_id, step_id, item=item)
    return await json_response(InputOut, InputOut(run_id=run_id, step_id=step_id, item=item, input=given))


@router.get("/{run_id}/steps/{step_id}/items", response_model=ItemPage, responses=problems(NotFound))
async def list_items(
    run_id: str,
    step_id: str,
    who: MayRead,
    app: AppDep,
    *,
    status: StatusQuery = None,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=0, le=MAX_ITEMS, description="the `after` of the previous page")] = None,
) -> Response:
    """List the items of a step's list, in order; none for a step without a list."""
    page = await steps.list_items(app, who, run_id, step_id, status=status, limit=limit, after=after)
    return await json_response(ItemPage, page)


@router.post("/{run_id}/cancel", responses=problems(NotFound, WrongState))
async def cancel_run(run_id: str, who: MayOperateRuns, app: AppDep, why: WhyIn | None = None) -> RunStatusOut:
    """Ask a run to stop. Unlike an aborted run, a cancelled one can be retried."""
    status = await control.cancel_run(app, who, run_id, reason=why.reason if why else "")
    return RunStatusOut(run_id=run_id, status=status)


class BulkActionIn(BaseModel):
    """An action on many runs."""

    model_config = body({"action": "abort", "run_ids": ["invoice.order-4711"], "reason": "sent twice"})

    action: BulkAction
    """What to do with each of them."""
    run_ids: list[Annotated[str, Field(max_length=2000)]] = Field(min_length=1, max_length=MOST_RUNS)
    """The runs."""
    reason: Reason = ""


@router.post("/bulk", responses=problems())
async def act_on_many_runs(wanted: BulkActionIn, who: MayOperateRuns, app: AppDep) -> RunOutcomes:
    """Take one action on many runs. A run that refuses is reported, and does not stop the others."""
    return await act_on_runs(app, who, wanted.run_ids, wanted.action, reason=wanted.reason)
