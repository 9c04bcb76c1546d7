"""Health routes for load balancers and supervisors: liveness and readiness."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from docrail.api.parameters import AppDep
from docrail.services.fleet.health import Readiness, check_readiness

router = APIRouter(tags=["health"])

_STATUSES = {True: HTTPStatus.OK, False: HTTPStatus.SERVICE_UNAVAILABLE}


class HealthOut(BaseModel):
    """The process is running."""

    status: Literal["ok"] = "ok"


@router.get("/healthz")
async def healthz() -> HealthOut:
    """Report that this process is running, whether or not other services are available."""
    return HealthOut()


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def readyz(app: AppDep) -> JSONResponse:
    """Check Temporal, PostgreSQL, the file store and a polling worker: 200 if all are available, else 503."""
    readiness = await check_readiness(app)
    return JSONResponse(asdict(readiness), _STATUSES[readiness.ready])
