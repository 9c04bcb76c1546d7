"""Retries of runs that ended, with edits and under newer versions, and the word that a parked step waits for."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.auth import MayOperateRuns
from api.errors import problems
from api.parameters import AppDep, Reason
from api.runs import RunStatusOut
from dag.aliases import MAX_VERSION
from dag.fan import MAX_ITEMS
from dag.messages import ResolutionKind
from dag.retry import Edit
from dag.values import Json
from operations import resolving, retries
from operations.errors import NotFound, TooLarge, WrongState
from operations.retries import RetriedRun, RetryOrder

router = APIRouter(prefix="/v1/runs/{run_id}", tags=["runs"])


class ItemEditIn(BaseModel):
    """What one item of a list is given by hand: exactly one of the three."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"config": {"url": "https://b.example"}}]}
    )

    config: dict[str, Json] | None = Field(
        default=None, description="run it with this config, taken as it is: templates in it are not resolved"
    )
    output: Json = Field(default=None, description="it is completed with this output and does not run")
    skip: Literal[True] | None = Field(default=None, description="it does not run")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"expected exactly one of {', '.join(type(self).model_fields)}")
        [(name, value)] = self.given().items()
        if value is None and name != "output":
            raise ValueError("expected a value, not null")
        return self

    def given(self) -> dict[str, Json]:
        """Return what was given, by its name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


Items = Annotated[
    dict[str, ItemEditIn] | None,
    Field(
        min_length=1,
        max_length=MAX_ITEMS,
        description="of a step over a list: by key, what items are given that failed or did not run; those that "
        "completed are kept, all others run again",
    ),
]


def items_edit(items: dict[str, ItemEditIn]) -> Edit:
    """Return the edit of a step whose items are given this."""
    return Edit(ResolutionKind.ITEMS, {key: item.given() for key, item in items.items()})


class EditIn(ItemEditIn):
    """What one step is given by hand: exactly one of the four."""

    items: Items = None

    def edit(self) -> Edit:
        """Return what is meant."""
        if self.items is not None:
            return items_edit(self.items)
        if self.skip:
            return Edit(ResolutionKind.SKIP)
        if self.config is not None:
            return Edit(ResolutionKind.RETRY, self.config)
        return Edit(ResolutionKind.OUTPUT, self.output)


class RetryIn(BaseModel):
    """How a run that ended goes on; by default as it was."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"steps": {"load": {"skip": True}}, "preview": True}]}
    )

    steps: dict[str, EditIn] = Field(default_factory=dict, max_length=2000, description="by step id")
    version: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MAX_VERSION,
        description="of the definition to go on with; by default the one that ran. With a version, also that one, the "
        "runs inside follow what is current now. A run with parked steps takes a retry only with a version",
    )
    undo: bool = Field(
        default=False,
        strict=True,
        description="only undo what could not be undone, and end as before; takes no steps and no version. The only "
        "retry of an aborted run",
    )
    preview: bool = Field(
        default=False,
        strict=True,
        description="only tell what would be reused, done again and new; with `steps` and no version also of a run in "
        "which these are parked, and would be resolved so",
    )
    reason: Reason = ""


class ResolutionIn(BaseModel):
    """What a failed step, or items of its list, are given with the action that is taken."""

    action: StrEnum
    config: dict[str, Json] | None = Field(default=None, description="with retry: instead of the step's own")
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
        """Return what is meant where the step is tried again, skipped or given an output."""
        if self.items is not None:
            return items_edit(self.items)
        kind = ResolutionKind(self.action)
        return Edit(kind, self.output if kind is ResolutionKind.OUTPUT else self.config)


class ResolveAction(StrEnum):
    """What becomes of a parked step."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"


class ResolveIn(ResolutionIn):
    """What becomes of a parked step: tried again, with `config` in another way; skipped; or given an output."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"action": "output", "output": {"n": 7}}]}
    )

    action: ResolveAction


@router.post("/retry", responses=problems(NotFound, WrongState, TooLarge))
async def retry_run(run_id: str, who: MayOperateRuns, app: AppDep, wanted: RetryIn | None = None) -> RetriedRun:
    """Start a failed or cancelled run again under its id, or a completed one of whose lists items failed.

    What completed is kept, unless what it came from changed. With `undo`, a failed or aborted run only undoes what it
    could not undo.
    """
    order = wanted or RetryIn()
    edits = {step_id: edit.edit() for step_id, edit in order.steps.items()}
    act = retries.preview_retry if order.preview else retries.retry_run
    return await act(app, who, run_id, RetryOrder(edits, order.version, order.reason, order.undo))


@router.post("/steps/{step_id}/resolve", responses=problems(NotFound, WrongState))
async def resolve_step(run_id: str, step_id: str, wanted: ResolveIn, who: MayOperateRuns, app: AppDep) -> RunStatusOut:
    """Say what becomes of a parked step; its run goes on. The first word counts."""
    status = await resolving.resolve_step(app, who, run_id, step_id, wanted.edit(), reason=wanted.reason)
    return RunStatusOut(run_id=run_id, status=status)
