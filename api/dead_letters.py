"""The dead-letter inbox: failed steps, how many of which class, and what is to be done about them."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.actions import ActionOut
from api.auth import MayOperateRuns, MayRead
from api.errors import problems
from api.parameters import After, AppDep, Limit, Moment, Reason
from api.retries import ResolutionIn
from operations import dead_letters
from operations.dead_letters import MOST_RETRIED, LetterOrder, Retried, ShownLetter
from operations.errors import NotFound, TooLarge, WrongState
from operations.unmatched import Unmatched
from storage.dead_letters import LetterFilter, LetterStatus, Resolved, StatusFilter, View

router = APIRouter(prefix="/v1/dead-letters", tags=["dead-letters"])

Text = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
ErrorClass = Annotated[Text | None, Query(alias="class", description="the error's class, such as ValueError")]
DefinitionId = Annotated[Text | None, Query(description="a definition's id")]
HandlerName = Annotated[Text | None, Query(description="a handler's name")]
ViewQuery = Annotated[
    View | None,
    Query(
        description="actionable: parked, or of an error that comes again if nothing changes; retryable: it may pass by "
        "itself; by default actionable for open letters, all for others"
    ),
]


class LetterOut(BaseModel):
    """A step that failed for good. Run and step are the reference to its input."""

    model_config = ConfigDict(from_attributes=True)

    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    status: LetterStatus = Field(description="parked: its run waits for a person; failed; resolved")
    error_type: str
    error_message: str
    retryable: bool = Field(description="whether the error may pass by itself")
    attempts: int
    failed_at: dt.datetime
    resolution: Resolved | None
    resolved_by: str | None
    resolved_at: dt.datetime | None


class LetterListOut(BaseModel):
    """A page of letters, those that failed last first."""

    model_config = ConfigDict(from_attributes=True)

    letters: list[LetterOut]
    after: str | None
    unmatched: list[Unmatched] = Field(description="if there are no letters: filters whose value no letter has")


class ClassCountOut(BaseModel):
    """How many letters an error's class has, and how many of them are parked, or may pass by themselves."""

    model_config = ConfigDict(from_attributes=True)

    error_type: str
    letters: int
    parked: int
    retryable: int
    oldest: dt.datetime
    newest: dt.datetime


class CountsOut(BaseModel):
    """Letters by error class, the most frequent first."""

    model_config = ConfigDict(from_attributes=True)

    classes: list[ClassCountOut]
    unmatched: list[Unmatched] = Field(description="if there are no letters: filters whose value no letter has")


class ShownLetterOut(LetterOut):
    """A letter, and what was done about it, newest first."""

    actions: list[ActionOut]

    @classmethod
    def of(cls, shown: ShownLetter) -> "ShownLetterOut":
        """Return what is told of `shown`."""
        actions = [ActionOut.model_validate(action) for action in shown.actions]
        return cls(**dict(LetterOut.model_validate(shown.letter)), actions=actions)


class LetterOrderIn(ResolutionIn):
    """What to do: retry, skip, output, abort (ends the run), or dismiss (closes the letter, leaves the run alone)."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"action": "retry"}]})

    action: Resolved

    def order(self) -> LetterOrder:
        """Return what is meant."""
        leaves_step = self.action in (Resolved.ABORT, Resolved.DISMISS)
        return LetterOrder(self.action, None if leaves_step else self.edit(), self.reason)


class KeyIn(BaseModel):
    """Which letter."""

    model_config = ConfigDict(extra="forbid")

    run_id: Text
    step_id: Text


class BulkIn(BaseModel):
    """Which letters to retry: those named, or the open ones that match, those that failed first first."""

    model_config = ConfigDict(
        extra="forbid",
        populate_by_name=True,
        json_schema_extra={"examples": [{"class": "ConnectionError", "limit": 50}]},
    )

    letters: list[KeyIn] | None = Field(default=None, min_length=1, max_length=MOST_RETRIED)
    error_class: Text | None = Field(default=None, alias="class")
    definition: Text | None = None
    handler: Text | None = None
    failed_before: Moment | None = Field(
        default=None, description="only failures before that moment: calls with the same one try each letter once"
    )
    limit: int = Field(default=20, strict=True, ge=1, le=MOST_RETRIED, description="most letters that one call retries")
    reason: Reason = ""

    @model_validator(mode="after")
    def _fits(self) -> "BulkIn":
        if self.letters is not None and (self.error_class or self.definition or self.handler or self.failed_before):
            raise ValueError("expected letters, or what they are to match, not both")
        return self


class OutcomeOut(BaseModel):
    """What became of a letter that was to be retried."""

    model_config = ConfigDict(from_attributes=True)

    run_id: str
    step_id: str
    retried: bool
    why: str | None = Field(description="what kept it from being retried")


class RetriedOut(BaseModel):
    """What became of each, and how many open ones still match."""

    model_config = ConfigDict(from_attributes=True)

    outcomes: list[OutcomeOut]
    left: int
    unmatched: list[Unmatched] = Field(description="if there is no outcome: filters whose value no letter has")


@router.get("", responses=problems())
async def list_letters(
    who: MayRead,
    app: AppDep,
    *,
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: StatusFilter = StatusFilter.OPEN,
    view: ViewQuery = None,
    limit: Limit = 100,
    after: After = None,
) -> LetterListOut:
    """List steps that failed for good; by default those that need a person."""
    wanted = LetterFilter(error_class, definition, handler, status, view or _view_of(status))
    return LetterListOut.model_validate(await dead_letters.list_letters(app, who, wanted, limit=limit, after=after))


@router.get("/counts", responses=problems())
async def count_letters(
    who: MayRead,
    app: AppDep,
    *,
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: StatusFilter = StatusFilter.OPEN,
    view: View = View.ALL,
) -> CountsOut:
    """Count letters by error class; by default all that are open."""
    wanted = LetterFilter(error_class, definition, handler, status, view)
    return CountsOut.model_validate(await dead_letters.count_letters(app, who, wanted))


@router.post("/retry", responses=problems(NotFound))
async def retry_letters(wanted: BulkIn, who: MayOperateRuns, app: AppDep) -> RetriedOut:
    """Retry many steps. One that cannot be retried is told of, and keeps no other from it."""
    return RetriedOut.model_validate(await _retried(wanted, who, app))


@router.get("/{run_id}/{step_id}", responses=problems(NotFound))
async def show_letter(run_id: str, step_id: str, who: MayRead, app: AppDep) -> ShownLetterOut:
    """Show a failed step, and what was done about it."""
    return ShownLetterOut.of(await dead_letters.show_letter(app, who, run_id, step_id))


@router.post("/{run_id}/{step_id}/resolve", responses=problems(NotFound, WrongState, TooLarge))
async def resolve_letter(
    run_id: str, step_id: str, wanted: LetterOrderIn, who: MayOperateRuns, app: AppDep
) -> ShownLetterOut:
    """Deal with a failed step: in its run, if that waits for it; by a retry of its run, if that has ended."""
    return ShownLetterOut.of(await dead_letters.resolve_letter(app, who, run_id, step_id, wanted.order()))


def _view_of(status: StatusFilter) -> View:
    return View.ACTIONABLE if status is StatusFilter.OPEN else View.ALL


async def _retried(wanted: BulkIn, who: MayOperateRuns, app: AppDep) -> Retried:
    if wanted.letters is not None:
        keys = [(letter.run_id, letter.step_id) for letter in wanted.letters]
        return await dead_letters.retry_letters(app, who, keys, reason=wanted.reason)
    matching = LetterFilter(wanted.error_class, wanted.definition, wanted.handler, failed_before=wanted.failed_before)
    return await dead_letters.retry_matching(app, who, matching, limit=wanted.limit, reason=wanted.reason)
