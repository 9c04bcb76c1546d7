"""Health routes: liveness and readiness for load balancers and supervisors, the same for signed-in people, workers."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Literal

from fastapi.responses import JSONResponse
from pydantic import BaseModel

from docrail.api.auth import MayOperateAll, SignedIn
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.fleet.health import Readiness, check_readiness
from docrail.services.fleet.models import Fleet
from docrail.services.fleet.workers import show_fleet

router = PrefixRouter(tags=["health"])
v1_router = PrefixRouter(prefix="/v1", tags=["health"])

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


@v1_router.get("/health", responses=problems())
async def show_health(_: SignedIn, app: AppDep) -> Readiness:
    """Show which services are available. Unlike `/readyz` it returns 200 whatever it finds: it answers a person."""
    return await check_readiness(app)


@v1_router.get("/workers", responses=problems())
async def list_workers(_: MayOperateAll, app: AppDep) -> Fleet:
    """List the workers, also those that fell silent within the last hour, and what waits in their task queues."""
    return await show_fleet(app)
