"""Routes of failed steps: list, count and resolve dead letters, and retry runs.

Runs that ended can be retried with edits or under another version; parked steps can be resolved while their run waits.

In one file because both resolve a failed step with the same edits.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from docrail.api.auth import MayOperateRuns, MayRead
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, Limit, Moment, Reason
from docrail.api.prefix_router import PrefixRouter
from docrail.api.runs import RunStatusOut
from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.retry import Edit
from docrail.dag.language.step_kinds import MAX_ITEMS
from docrail.dag.values.json_values import Json
from docrail.services.definitions.models import VersionNumber
from docrail.services.errors import NotFound, TooLarge, WrongState
from docrail.services.failures import resolve, retry
from docrail.services.failures import service as failures
from docrail.services.failures.models import (
    LetterCounts,
    LetterFilter,
    LetterGroups,
    LetterOrder,
    LetterPage,
    Resolved,
    Retried,
    ShownLetter,
    StatusFilter,
    View,
)
from docrail.services.failures.retry import RetriedRun, RetryOrder
from docrail.services.failures.service import MOST_RETRIED
from docrail.services.model_config import WHOLE, without_null

router = PrefixRouter(prefix="/v1/dead-letters", tags=["dead-letters"])

Text = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]

ErrorClass = Annotated[Text | None, Query(alias="class", description="the error's class, such as ValueError")]

DefinitionId = Annotated[Text | None, Query(description="a definition's id")]

StepName = Annotated[Text | None, Query(description="a step's id")]

HandlerName = Annotated[Text | None, Query(description="a handler's name")]

ViewQuery = Annotated[
    View | None,
    Query(
        description="actionable: parked, or an error that recurs unless something changes; retryable: it may pass by "
        "itself; by default actionable for open letters, all for others"
    ),
]


class ItemEditIn(BaseModel):
    """The override for one item of a list: exactly one of the three."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"config": {"url": "https://b.example"}}],
            "minProperties": 1,
            "maxProperties": 1,
        },
    )

    config: dict[str, Json] | None = Field(
        default=None,
        json_schema_extra=without_null,
        description="run it with this config, taken as it is: templates in it are not resolved",
    )
    output: Json = Field(default=None, description="it is completed with this output and does not run")
    skip: Literal[True] | None = Field(default=None, json_schema_extra=without_null, description="it does not run")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"expected exactly one of {', '.join(type(self).model_fields)}")
        [(name, value)] = self.given().items()
        if value is None and name != "output":
            raise ValueError("expected a value, not null")
        return self

    def given(self) -> dict[str, Json]:
        """Return the given override, by its name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


Items = Annotated[
    dict[str, ItemEditIn] | None,
    Field(
        min_length=1,
        max_length=MAX_ITEMS,
        json_schema_extra=without_null,
        description="of a step over a list: by key, what items are given that failed or did not run; those that "
        "completed are kept, all others run again",
    ),
]


FITTING: dict[str, Json] = {
    "oneOf": [
        {
            "properties": {"action": {"const": "retry"}},
            "not": {"anyOf": [{"required": ["output"]}, {"required": ["config", "items"]}]},
        },
        {
            "properties": {"action": {"const": "output"}},
            "required": ["output"],
            "not": {"anyOf": [{"required": ["config"]}, {"required": ["items"]}]},
        },
        {
            "properties": {"action": {"enum": ["skip", "abort", "dismiss"]}},
            "not": {"anyOf": [{"required": ["output"]}, {"required": ["config"]}, {"required": ["items"]}]},
        },
    ]
}
"""What `ResolutionIn._fits` checks, for the schema."""


class ResolutionIn(BaseModel):
    """The values for a failed step, or for items of its list, that go with the action."""

    action: StrEnum
    config: dict[str, Json] | None = Field(
        default=None, json_schema_extra=without_null, description="with retry: instead of the step's own"
    )
    output: Json = Field(default=None, description="with output: what the step gives")
    items: Items = None
    reason: Reason = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for name in ("config", "items"):
            if getattr(self, name) is not None and self.action != ResolutionKind.RETRY:
                raise ValueError(f"{name} goes with the action retry, not with {self.action}")
        if self.config is not None and self.items is not None:
            raise ValueError("expected config for the step, or items for those of its list, not both")
        if ("output" in self.model_fields_set) is not (self.action == ResolutionKind.OUTPUT):
            raise ValueError("output goes with the action output, which needs it")
        return self

    def edit(self) -> Edit:
        """Return the edit for a retry, a skip or an output."""
        if self.items is not None:
            return items_edit(self.items)
        kind = ResolutionKind(self.action)
        return Edit(kind, self.output if kind is ResolutionKind.OUTPUT else self.config)


class LetterOrderIn(ResolutionIn):
    """How to resolve it: retry, skip, output, abort (ends the run), or dismiss (closes only the letter)."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"action": "retry"}], **FITTING})

    action: Resolved

    def order(self) -> LetterOrder:
        """Return the order that this requests."""
        leaves_step = self.action in (Resolved.ABORT, Resolved.DISMISS)
        return LetterOrder(self.action, None if leaves_step else self.edit(), self.reason)


class LetterKeyIn(BaseModel):
    """Identifies a letter."""

    model_config = ConfigDict(extra="forbid")

    run_id: Text
    step_id: Text


FILTERS = ("class", "definition", "handler", "step", "failed_before")


class BulkIn(BaseModel):
    """The letters to retry: those listed, or the open ones that match, oldest failure first."""

    model_config = ConfigDict(
        extra="forbid",
        populate_by_name=True,
        json_schema_extra={
            "examples": [{"class": "ConnectionError", "limit": 50}],
            "not": {"required": ["letters"], "anyOf": [{"required": [each]} for each in FILTERS]},
        },
    )

    letters: list[LetterKeyIn] | None = Field(
        default=None, min_length=1, max_length=MOST_RETRIED, json_schema_extra=without_null
    )
    error_class: Text | None = Field(default=None, alias="class")
    definition: Text | None = None
    handler: Text | None = None
    step: Text | None = Field(default=None, description="only failures of this step")
    failed_before: Moment | None = Field(
        default=None, description="only failures before that moment: calls with the same one try each letter once"
    )
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST_RETRIED), WHOLE] = Field(
        default=20, description="most letters that one call retries"
    )
    reason: Reason = ""

    @model_validator(mode="after")
    def _fits(self) -> "BulkIn":
        filters = (self.error_class, self.definition, self.handler, self.step, self.failed_before)
        if self.letters is not None and any(filters):
            raise ValueError("expected letters, or what they are to match, not both")
        return self


@router.get("", responses=problems())
async def list_letters(
    who: MayRead,
    app: AppDep,
    *,
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    step: StepName = None,
    status: StatusFilter = StatusFilter.OPEN,
    view: ViewQuery = None,
    limit: Limit = 100,
    after: After = None,
) -> LetterPage:
    """List permanently failed steps; by default those that need a person."""
    wanted = LetterFilter(error_class, definition, handler, status, view or _view_of(status), step_id=step)
    return await failures.list_letters(app, who, wanted, limit=limit, after=after)


@router.get("/counts", responses=problems())
async def count_letters(
    who: MayRead,
    app: AppDep,
    *,
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    step: StepName = None,
    status: StatusFilter = StatusFilter.OPEN,
    view: View = View.ALL,
) -> LetterCounts:
    """Count letters by error class; by default all open ones."""
    wanted = LetterFilter(error_class, definition, handler, status, view, step_id=step)
    return await failures.count_letters(app, who, wanted)


@router.get("/groups", responses=problems())
async def group_letters(
    who: MayRead,
    app: AppDep,
    *,
    definition: DefinitionId = None,
    status: StatusFilter = StatusFilter.OPEN,
    view: View = View.ALL,
    limit: Limit = 100,
) -> LetterGroups:
    """Group letters by error class and step, with the number that failed again after a retry; by default open ones."""
    wanted = LetterFilter(None, definition, None, status, view)
    return await failures.group_letters(app, who, wanted, limit=limit)


@router.post("/retry", responses=problems(NotFound))
async def retry_letters(wanted: BulkIn, who: MayOperateRuns, app: AppDep) -> Retried:
    """Retry many steps. A step that cannot be retried is reported, and does not stop the others."""
    if wanted.letters is not None:
        keys = [(letter.run_id, letter.step_id) for letter in wanted.letters]
        return await failures.retry_letters(app, who, keys, reason=wanted.reason)
    matching = LetterFilter(
        wanted.error_class,
        wanted.definition,
        wanted.handler,
        failed_before=wanted.failed_before,
        step_id=wanted.step,
    )
    return await failures.retry_matching(app, who, matching, limit=wanted.limit, reason=wanted.reason)


@router.get("/{run_id}/{step_id}", responses=problems(NotFound))
async def show_letter(run_id: str, step_id: str, who: MayRead, app: AppDep) -> ShownLetter:
    """Show a failed step and the actions on it."""
    return await failures.show_letter(app, who, run_id, step_id)


@router.post("/{run_id}/{step_id}/resolve", responses=problems(NotFound, WrongState, TooLarge))
async def resolve_letter(
    run_id: str, step_id: str, wanted: LetterOrderIn, who: MayOperateRuns, app: AppDep
) -> ShownLetter:
    """Resolve a failed step: in its run while that waits, or by retrying the run once it has ended."""
    return await failures.resolve_letter(app, who, run_id, step_id, wanted.order())


def _view_of(status: StatusFilter) -> View:
    return View.ACTIONABLE if status is StatusFilter.OPEN else View.ALL


retries_router = PrefixRouter(prefix="/v1/runs/{run_id}", tags=["runs"])


def items_edit(items: dict[str, ItemEditIn]) -> Edit:
    """Return the edit for the overrides of a step's items."""
    return Edit(ResolutionKind.ITEMS, {key: item.given() for key, item in items.items()})


class EditIn(ItemEditIn):
    """The override for one step: exactly one of the four."""

    items: Items = None

    def edit(self) -> Edit:
        """Return the edit that this requests."""
        if self.items is not None:
            return items_edit(self.items)
        if self.skip:
            return Edit(ResolutionKind.SKIP)
        if self.config is not None:
            return Edit(ResolutionKind.RETRY, self.config)
        return Edit(ResolutionKind.OUTPUT, self.output)


class RetryIn(BaseModel):
    """How to retry an ended run; by default without changes."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"steps": {"load": {"skip": True}}, "preview": True},
                {"from_steps": ["save_json"], "inputs": {"cost_centre": "4711"}},
            ],
            "not": {
                "properties": {"undo": {"const": True}},
                "required": ["undo"],
                "anyOf": [{"required": [name]} for name in ("steps", "version", "from_steps", "inputs")],
            },
        },
    )

    steps: dict[str, EditIn] = Field(default_factory=dict, max_length=2000, description="by step id")
    version: VersionNumber | None = Field(
        default=None,
        description="of the definition to go on with; by default the one that ran. With a version, also that one, the "
        "nested runs use their current versions. A run with parked steps takes a retry only with a version",
    )
    from_steps: frozenset[Annotated[str, Field(max_length=64)]] = Field(
        default=frozenset(),
        max_length=2000,
        description="steps that run again although they completed, with all that follows them; also of a completed "
        "run. Nothing is undone before",
    )
    inputs: dict[str, Json] = Field(
        default_factory=dict,
        description="values that replace those of the run's inputs: steps that read them run again, with all that "
        "follows them; also of a completed run",
    )
    undo: bool = Field(
        default=False,
        strict=True,
        description="only undo what could not be undone, and end as before; takes no steps, no inputs and no version. "
        "The only retry of an aborted run",
    )
    preview: bool = Field(
        default=False,
        strict=True,
        description="only show what would be reused, done again and new; with `steps` and no version also of a run in "
        "which these are parked, and would be resolved so",
    )
    reason: Reason = ""


class ResolveAction(StrEnum):
    """How to resolve a parked step."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"


class ResolveIn(ResolutionIn):
    """How to resolve a parked step: retry it, optionally with another `config`; skip it; or provide its output."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"action": "output", "output": {"n": 7}}], **FITTING}
    )

    action: ResolveAction


@retries_router.post("/retry", responses=problems(NotFound, WrongState, TooLarge))
async def retry_run(run_id: str, who: MayOperateRuns, app: AppDep, wanted: RetryIn | None = None) -> RetriedRun:
    """Start a failed or cancelled run again under its id, or a completed one with failed items or `from_steps`.

    Completed work is kept unless its input changed. With `undo`, a failed or aborted run only repeats its unfinished
    compensations.
    """
    order = wanted or RetryIn()
    edits = {step_id: edit.edit() for step_id, edit in order.steps.items()}
    act = retry.preview_retry if order.preview else retry.retry_run
    wished = RetryOrder(edits, order.version, order.reason, order.undo, order.from_steps, order.inputs)
    return await act(app, who, run_id, wished)


@retries_router.post("/steps/{step_id}/resolve", responses=problems(NotFound, WrongState))
async def resolve_step(run_id: str, step_id: str, wanted: ResolveIn, who: MayOperateRuns, app: AppDep) -> RunStatusOut:
    """Resolve a parked step; its run continues. The first resolution counts."""
    status = await resolve.resolve_step(app, who, run_id, step_id, wanted.edit(), reason=wanted.reason)
    return RunStatusOut(run_id=run_id, status=status)
