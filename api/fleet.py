"""Health routes for load balancers and supervisors: liveness and readiness."""

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
    """The process is running."""

    status: Literal["ok"] = "ok"


class ReadinessOut(BaseModel):
    """`ok` for each available service, else a description of the problem."""

    ready: bool
    temporal: str = Field(examples=["ok"])
    postgresql: str = Field(examples=["ok"])
    worker: str = Field(examples=["no worker polls the task queue 'docrail'"])

    @classmethod
    def of(cls, found: Readiness) -> "ReadinessOut":
        """Return the response model of `found`."""
        return cls(ready=found.ready, temporal=found.temporal, postgresql=found.postgresql, worker=found.worker)


@router.get("/healthz")
async def healthz() -> HealthOut:
    """Report that this process is running, whether or not other services are available."""
    return HealthOut()


@router.get("/readyz", response_model=ReadinessOut, responses={503: {"model": ReadinessOut}})
async def readyz(app: AppDep) -> JSONResponse:
    """Check Temporal, PostgreSQL and a polling worker: 200 if all are available, else 503."""
    readiness = await check_readiness(app)
    return JSONResponse(ReadinessOut.of(readiness).model_dump(), _STATUSES[readiness.ready])
