"""What a run, and the runs inside it, wait for."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayRead
from api.errors import problems
from api.parameters import After, AppDep, Limit
from dag.explanation import OpenWait
from operations import waits
from operations.errors import NotFound

router = APIRouter(prefix="/v1/runs", tags=["runs"])


class WaitsOut(BaseModel):
    """What a run waits for: a page is of its own steps first, then of so many runs inside it."""

    model_config = ConfigDict(from_attributes=True)

    waits: list[OpenWait] = Field(
        description="each is answered at its run and step: POST /v1/runs/{run_id}/waits/{step_id}; one without "
        "`waiting` has failed, and waits for POST /v1/runs/{run_id}/steps/{step_id}/resolve"
    )
    unanswered: list[str] = Field(description="runs inside it that did not tell what they wait for")
    paused: list[str] = Field(
        description="runs of this page, itself among them, that are paused: an answer is taken, but nothing begins "
        "after it before POST /v1/runs/{run_id}/resume"
    )
    after: str | None


@router.get("/{run_id}/waits", responses=problems(NotFound))
async def list_waits(run_id: str, who: MayRead, app: AppDep, *, limit: Limit = 100, after: After = None) -> WaitsOut:
    """List what a run waits for, itself and in the runs inside it; `limit` is of these runs."""
    return WaitsOut.model_validate(await waits.list_waits(app, who, run_id, limit=limit, after=after))
