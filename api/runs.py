"""Routes of runs: start, list, show, explain, pause, resume and abort; their inputs, outputs, waits and actions.

The waits include those of nested runs. The actions include those on failed steps that have left the dead-letter inbox.
"""

from dataclasses import replace
from typing import Annotated

from fastapi import Query, Response
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayOperateRuns, MayRead, MaySubmit
from docrail.api.errors import problems
from docrail.api.large_answers import json_response
from docrail.api.parameters import After, AppDep, IdempotencyKey, Limit, Moment, Reason, one_key
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.explain.facts import RunExplanation
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN
from docrail.services.documents.service import DOCUMENT_ID_PATTERN
from docrail.services.errors import InvalidDefinition, KeyConflict, MayNotDecide, NotFound, WrongState
from docrail.services.reviews import service as reviews
from docrail.services.runs import control
from docrail.services.runs import service as runs
from docrail.services.runs.control import ActionPage
from docrail.services.runs.service import RunOrder, StartedRun
from docrail.services.runs.views import chunked_reports, explanation, lists, outputs, waits
from docrail.services.runs.views.lists import Period, RunCounts, RunFilter, RunPage
from docrail.services.runs.views.waits import WaitPage

router = PrefixRouter(prefix="/v1/runs", tags=["runs"])


MOST_EXPLAINED = 5_000
"""Maximum steps per page. For each page of an ended run, a worker replays the whole run."""


class RunOut(RunReport):
    """A run: its steps in plan order with status, explanation, attempts and duration, the totals, and its outputs."""

    history_url: str = Field(description="the run's history in Temporal's web UI; empty if there is none")
    explain_url: str = Field(description="explains every step, a page at a time, as data too")


class RunStatusOut(BaseModel):
    """A run's status after a change."""

    run_id: str
    status: RunStatus


class OutputOut(BaseModel):
    """A step's full output: where a report has `{"$stored": ...}`, this contains the stored value."""

    run_id: str
    step_id: str
    output: Json


class OutputsOut(BaseModel):
    """A run's full outputs: where its report has `{"$stored": ...}`, this contains the stored value."""

    run_id: str
    outputs: dict[str, Json]


class InputsOut(BaseModel):
    """A run's full inputs: the given values, and the defaults of the others."""

    run_id: str
    inputs: dict[str, Json]


class AnswerIn(BaseModel):
    """The answer for a waiting step: any JSON that its `accept` or `form` allows."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"answer": {"decision": "process"}}]})

    answer: Json


class WhyIn(BaseModel):
    """The reason for pausing or resuming a run."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "the bank is closed"}]})

    reason: Reason = ""


class AbortIn(BaseModel):
    """The reason for aborting a run."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "sent twice"}]})

    reason: str = Field(default="aborted by an operator", min_length=1, max_length=500, pattern=r"^[^\x00]*$")
    force: bool = Field(
        default=False,
        strict=True,
        description="end the run without its worker, for a run whose workflow task fails: its steps are not asked to "
        "stop, and its status is `failed`",
    )


@router.post(
    "",
    status_code=202,
    responses=problems(NotFound, KeyConflict, InvalidDefinition),
)
async def start_run(
    order: RunOrder, who: MaySubmit, app: AppDep, response: Response, idempotency_key: IdempotencyKey = None
) -> StartedRun:
    """Start a run. With a key, repeating the request returns the same run, even after it ended."""
    started = await runs.start_run(app, who, replace(order, key=one_key(idempotency_key, order.key)))
    response.headers["Location"] = f"/v1/runs/{started.run_id}"
    return started


IDS_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,127}(,[A-Za-z][A-Za-z0-9_]{0,127}){0,59}$"

Since = Annotated[Moment | None, Query(description="only runs from this moment on")]
Before = Annotated[Moment | None, Query(description="only runs before this moment")]


@router.get("", responses=problems())
async def list_runs(
    who: MayRead,
    app: AppDep,
    *,
    definition: Annotated[
        str | None, Query(description="a definition's id", json_schema_extra={"pattern": ID_PATTERN, "maxLength": 64})
    ] = None,
    document: Annotated[
        str | None, Query(description="a document's id", json_schema_extra={"pattern": DOCUMENT_ID_PATTERN})
    ] = None,
    status: Annotated[RunStatus | None, Query(json_schema_extra={"not": {"const": "pending"}})] = None,
    overdue: Annotated[
        bool | None,
        Query(description="true: runs whose deadline has passed; without a `status`, those that have not ended"),
    ] = None,
    started_since: Since = None,
    started_before: Before = None,
    ended_since: Since = None,
    ended_before: Before = None,
    limit: Limit = 100,
    after: After = None,
) -> RunPage:
    """List runs, each once, by the start of their last attempt, latest first.

    `status` filters by the current status. A limit on the end lists only runs that have ended.
    """
    started, ended = Period(started_since, started_before), Period(ended_since, ended_before)
    wanted = RunFilter(definition, document, status, overdue, started, ended)
    return await lists.list_runs(app, who, wanted, limit=limit, after=after)


@router.get("/counts", responses=problems())
async def count_runs(
    who: MayRead,
    app: AppDep,
    definitions: Annotated[
        str,
        Query(max_length=8000, pattern=IDS_PATTERN, description="ids of definitions, at most 60, separated by commas"),
    ],
    failed_since: Annotated[Moment, Query(description="counts failures from this moment on")],
) -> RunCounts:
    """Count the open runs of definitions, and those that have failed lately."""
    return await lists.count_runs(app, who, definitions.split(","), failed_since)


@router.get("/{run_id}", responses=problems(NotFound))
async def show_run(run_id: str, who: MayRead, app: AppDep) -> RunOut:
    """Show a run with its steps, each explained. For a large run, only the most informative steps are explained.

    While no worker answers, it shows what Temporal has recorded, and says so in `why`.
    """
    view = await chunked_reports.view_run(app, who, run_id)
    urls = {"history_url": view.history_url, "explain_url": f"/v1/runs/{run_id}/explain"}
    return RunOut(**dict(view.report), **urls)


@router.get("/{run_id}/outputs", response_model=OutputsOut, responses=problems(NotFound))
async def show_outputs(run_id: str, who: MayRead, app: AppDep) -> Response:
    """Show a run's full outputs, of any size; none before its end."""
    return await json_response(
        OutputsOut, OutputsOut(run_id=run_id, outputs=await outputs.show_outputs(app, who, run_id))
    )


@router.get("/{run_id}/inputs", response_model=InputsOut, responses=problems(NotFound))
async def show_inputs(run_id: str, who: MayRead, app: AppDep) -> Response:
    """Show a run's full inputs; after a retry with other inputs, those."""
    return await json_response(InputsOut, InputsOut(run_id=run_id, inputs=await outputs.show_inputs(app, who, run_id)))


@router.get("/{run_id}/steps/{step_id}/output", response_model=OutputOut, responses=problems(NotFound))
async def show_output(run_id: str, step_id: str, who: MayRead, app: AppDep) -> Response:
    """Show a step's full output, of any size: a run's report only refers to outputs of more than 64 KiB."""
    shown = OutputOut(run_id=run_id, step_id=step_id, output=await outputs.show_output(app, who, run_id, step_id))
    return await json_response(OutputOut, shown)


@router.get("/{run_id}/explain", response_model=RunExplanation, responses=problems(NotFound))
async def explain_run(
    run_id: str,
    who: MayRead,
    app: AppDep,
    *,
    step: Annotated[str | None, Query(max_length=64, description="one step's id, for that step alone")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_EXPLAINED, description="most steps on the page")] = 100,
    after: After = None,
) -> Response:
    """Explain why each step is in its state: conditions with the values they read, attempts, and waits."""
    shown = await explanation.explain_run(app, who, run_id, step=step, after=after, limit=limit)
    return await json_response(RunExplanation, shown)


@router.post("/{run_id}/pause", responses=problems(NotFound, WrongState))
async def pause_run(run_id: str, who: MayOperateRuns, app: AppDep, why: WhyIn | None = None) -> RunStatusOut:
    """Start no more steps of the run; running ones continue."""
    status = await control.pause_run(app, who, run_id, reason=why.reason if why else "")
    return RunStatusOut(run_id=run_id, status=status)


@router.post("/{run_id}/resume", responses=problems(NotFound, WrongState))
async def resume_run(run_id: str, who: MayOperateRuns, app: AppDep, why: WhyIn | None = None) -> RunStatusOut:
    """Resume a paused run."""
    status = await control.resume_run(app, who, run_id, reason=why.reason if why else "")
    return RunStatusOut(run_id=run_id, status=status)


@router.post("/{run_id}/abort", responses=problems(NotFound, WrongState))
async def abort_run(run_id: str, who: MayOperateRuns, app: AppDep, wanted: AbortIn | None = None) -> RunStatusOut:
    """End the run early. Running steps are cancelled and awaited; the rest is skipped."""
    wanted = wanted or AbortIn()
    status = await control.abort_run(app, who, run_id, wanted.reason, force=wanted.force)
    return RunStatusOut(run_id=run_id, status=status)


@router.post("/{run_id}/waits/{step_id}", responses=problems(NotFound, MayNotDecide, WrongState))
async def answer_wait(run_id: str, step_id: str, wanted: AnswerIn, who: MayOperateRuns, app: AppDep) -> RunStatusOut:
    """Answer a step that waits for a signal, a webhook or a person. The first answer that it accepts counts."""
    status = await reviews.answer_step(app, who, run_id, step_id, wanted.answer)
    return RunStatusOut(run_id=run_id, status=status)


@router.get("/{run_id}/waits", responses=problems(NotFound))
async def list_waits(run_id: str, who: MayRead, app: AppDep, *, limit: Limit = 100, after: After = None) -> WaitPage:
    """List what a run and its nested runs wait for; `limit` is the number of nested runs per page."""
    return await waits.list_waits(app, who, run_id, limit=limit, after=after)


StepId = Annotated[
    str | None,
    Query(max_length=64, pattern=ID_PATTERN, description="only actions on this step, or on the whole run"),
]


actions_router = PrefixRouter(prefix="/v1/runs/{run_id}/actions", tags=["runs"])


@actions_router.get("", responses=problems(NotFound))
async def list_actions(
    run_id: str,
    who: MayRead,
    app: AppDep,
    *,
    step: StepId = None,
    limit: Limit = 100,
    after: After = None,
) -> ActionPage:
    """List people's actions on a run and its failed steps, newest first.

    Includes pauses, resumptions, aborts and retries; for steps also skips, manual outputs and dismissals. Refused
    actions are not recorded.
    """
    return await control.list_run_actions(app, who, run_id, step_id=step, limit=limit, after=after)
