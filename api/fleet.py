"""Health for load balancers and supervisors: alive, and ready for work."""

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from docrail.api.parameters import AppDep
from docrail.services.fleet.health import Readiness, check_readiness

router = APIRouter(tags=["health"])

_STATUSES = {True: HTTPStatus.OK, False: HTTPStatus.SERVICE_UNAVAILABLE}


class HealthOut(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class ReadinessOut(BaseModel):
    """`ok` for each thing that is there, else what is missing, in words."""

    ready: bool
    temporal: str = Field(examples=["ok"])
    postgresql: str = Field(examples=["ok"])
    worker: str = Field(examples=["no worker polls the task queue 'docrail'"])

    @classmethod
    def of(cls, found: Readiness) -> "ReadinessOut":
        """Return what is told of `found`."""
        return cls(ready=found.ready, temporal=found.temporal, postgresql=found.postgresql, worker=found.worker)


@router.get("/healthz")
async def healthz() -> HealthOut:
    """Tell that this process answers, whatever else is away."""
    return HealthOut()


@router.get("/readyz", response_model=ReadinessOut, responses={503: {"model": ReadinessOut}})
async def readyz(app: AppDep) -> JSONResponse:
    """Tell whether Temporal, PostgreSQL and a polling worker are there: 200 if all are, else 503."""
    readiness = await check_readiness(app)
    return JSONResponse(ReadinessOut.of(readiness).model_dump(), _STATUSES[readiness.ready])
