"""`docrail deploy`: its options; what it does is in commands/deploying.py."""

from typing import Annotated

import typer


def deploy(
    context: typer.Context,
    build: Annotated[
        str | None, typer.Argument(help="The build that new runs go to; none: show the builds.", metavar="BUILD")
    ] = None,
    percentage: Annotated[
        float | None, typer.Option(min=0, max=100, help="Send only this share of the new runs there.", metavar="N")
    ] = None,
    unversioned: Annotated[
        bool, typer.Option("--unversioned", help="Send new runs to workers without DOCRAIL_BUILD_ID.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Do not wait for workers: runs wait for them instead.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0, help="How long to wait for workers, in seconds.", metavar="N")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send new runs to one build's workers, or show the builds.

    Runs that are open stay on the build that they began on: keep its workers until it is told as drained. First it
    waits until workers with DOCRAIL_BUILD_ID=BUILD poll the task queue, and that of every resource tag.

    Exit codes: 0 done, 1 its workers did not come or Temporal is away, 2 wrong usage.

    Example: docrail deploy 2026-11-21.1 --percentage 10
    """
    if unversioned and (build or percentage is not None):
        raise typer.BadParameter("goes without a build and a percentage", param_hint="--unversioned")
    if percentage is not None and build is None:
        raise typer.BadParameter("needs a build", param_hint="--percentage")
    from commands import deploying  # noqa: PLC0415  # Temporal's client: few commands need it
    from operations.connection import find_connection  # noqa: PLC0415
    from operations.deployments import Fleet  # noqa: PLC0415

    settings = context.obj()
    connection = find_connection(
        settings.temporal_address, settings.temporal_namespace, envconfig=settings.temporal_envconfig
    )
    fleet = Fleet(connection, settings.deployment, settings.task_queue, tuple(settings.resource_limits))
    deploying.run_deploy(fleet, deploying.DeployOrder(build, percentage, unversioned, force, wait, as_json))
