"""`docrail deploy`: show which builds there are and what they still have to do, and choose the one for new runs.

It speaks to Temporal itself, as `docrail migrate` does: an upgrade must not need an API that works already.
"""

import json
from dataclasses import asdict, dataclass

from rich.table import Table

from commands.speaking import complain, console, say, table
from commands.stopping import INTERRUPTED, run_until_stopped
from operations.connection import told_away
from operations.deployments import BuildStatus, Deployment, Fleet, deploy, load_deployment, withdraw
from operations.errors import Unavailable


@dataclass(frozen=True, slots=True)
class DeployOrder:
    """What a person asks for. Without a build, and unless new runs are to need none: only to be told."""

    build_id: str | None
    percentage: float | None
    unversioned: bool
    force: bool
    wait_seconds: float
    as_json: bool


def run_deploy(fleet: Fleet, order: DeployOrder) -> None:
    """Do it and print the builds. Raises: BuildUnfit, ConnectionUnfit; SystemExit if Temporal is away."""
    try:
        deployment = run_until_stopped(lambda: _do(fleet, order))
    except Unavailable as error:
        raise SystemExit(told_away(error, fleet.connection)) from None
    if deployment is None:
        raise SystemExit(INTERRUPTED)
    if order.as_json:
        print(json.dumps(asdict(deployment) | {"current": deployment.current}, indent=2, default=str))
        return
    if deployment.builds:
        console().print(_table(deployment))
    say(_told(deployment))


async def _do(fleet: Fleet, order: DeployOrder) -> Deployment:
    if order.unversioned:
        return await withdraw(fleet, wait_seconds=order.wait_seconds)
    if order.build_id is None:
        return await load_deployment(fleet)
    return await deploy(
        fleet,
        order.build_id,
        percentage=order.percentage,
        force=order.force,
        wait_seconds=order.wait_seconds,
        report=complain if order.as_json else say,
    )


def _table(deployment: Deployment) -> Table:
    shown = table()
    for heading in ("build", "status"):
        shown.add_column(heading)
    for heading in ("new runs", "open runs"):
        shown.add_column(heading, justify="right")
    shown.add_column("since")
    for build in deployment.builds:
        share = f"{build.percentage:g} %" if build.percentage else ""
        shown.add_row(build.build_id, build.status, share, str(build.open_runs), f"{build.since:%Y-%m-%d %H:%M:%S}Z")
    return shown


def _told(deployment: Deployment) -> str:
    if not deployment.builds:
        return f"no worker of {deployment.name!r} has ever said its build: start one with DOCRAIL_BUILD_ID"
    if deployment.current is None:
        return "no build is current: new runs go to workers without DOCRAIL_BUILD_ID"
    done = [build.build_id for build in deployment.builds if build.status is BuildStatus.DRAINED]
    return f"new runs go to {deployment.current}" + (
        f"; no run needs {', '.join(done)}: stop its workers" if done else ""
    )
