"""Run scheduled maintenance: compact each tenant's lake every night, then delete expired files and rows.

On a schedule of its own, also look for review items that used much of their SLA, and notify people.
"""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from docrail.workflows.contract.names import MAINTENANCE_FAILED, MAINTENANCE_TYPE, NOTIFY_SLA, SLA_TYPE

with workflow.unsafe.imports_passed_through():
    from docrail.workflows.contract.messages import LookedAfter, MaintenanceReport, MaintenanceRequest

LIST_TENANTS, LOOK_AFTER_TENANT = "list_lake_tenants", "look_after_lake"

REMOVE_VALUES, REMOVE_ORIGINALS, REMOVE_ROWS = "remove_old_values", "remove_old_originals", "remove_expired_rows"
"""The activities. They are not in the catalogue: no definition names them."""

HEARTBEAT = timedelta(seconds=60)

LONGEST = timedelta(hours=6)
"""Limit for one tenant's compaction: millions of documents if the schedule was off for long."""

RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=5),
    maximum_interval=timedelta(minutes=5),
    maximum_attempts=6,
    non_retryable_error_types=["ValueError", "ManifestDamaged", "LakeFileDamaged", "WrongStore"],
)
"""Ten minutes in all: a disk that stays full is left for the next night, and the other tenants do not wait for it."""


@workflow.defn(name=MAINTENANCE_TYPE)
class Maintenance:
    """One round over all tenants. A failure for one tenant does not stop the others."""

    @workflow.run
    async def run(self, request: MaintenanceRequest) -> MaintenanceReport:
        """Run one round. Raises MaintenanceFailed with the report if anything failed."""
        report = request.so_far
        tenants: list[str] = await _ask(LIST_TENANTS, result_type=list[str])
        for tenant_id in tenants:
            if request.after_tenant is not None and tenant_id <= request.after_tenant:
                continue
            report = await _look_after(tenant_id, report)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(MaintenanceRequest(after_tenant=tenant_id, so_far=report))
        report = await _remove(report)
        if report.failed:
            raise ApplicationError(
                f"could not do: {'; '.join(report.failed)}", report, type=MAINTENANCE_FAILED, non_retryable=True
            )
        return report


async def _look_after(tenant_id: str, report: MaintenanceReport) -> MaintenanceReport:
    try:
        done: LookedAfter = await _ask(LOOK_AFTER_TENANT, tenant_id, result_type=LookedAfter)
    except ActivityError as error:
        return _failed(report, f"tenant {tenant_id}", error)
    return report.model_copy(
        update={
            "tenants": report.tenants + 1,
            "compacted": report.compacted + done.compacted,
            "removed_files": report.removed_files + done.removed,
        }
    )


async def _remove(report: MaintenanceReport) -> MaintenanceReport:
    removals = {REMOVE_VALUES: "removed_values", REMOVE_ORIGINALS: "removed_originals", REMOVE_ROWS: "removed_rows"}
    for activity, field in removals.items():
        try:
            report = report.model_copy(update={field: await _ask(activity, result_type=int)})
        except ActivityError as error:
            report = _failed(report, field.replace("_", " "), error)
    return report


def _failed(report: MaintenanceReport, what: str, error: ActivityError) -> MaintenanceReport:
    if is_cancelled_exception(error):
        raise error
    return report.model_copy(update={"failed": (*report.failed, f"{what}: {error.cause or error}")})


async def _ask(activity: str, *arguments: str, result_type: type[Any]) -> Any:
    return await workflow.execute_activity(
        activity,
        args=arguments,
        result_type=result_type,
        start_to_close_timeout=LONGEST,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRIES,
        summary=arguments[0] if arguments else None,
    )


ONE_LOOK = timedelta(minutes=5)

SLA_RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=5
)
"""Two minutes in all: the next check finds what this one missed."""


@workflow.defn(name=SLA_TYPE)
class SlaWatch:
    """One check of all tenants' open items."""

    @workflow.run
    async def run(self) -> int:
        """Check the items, and return the number of events."""
        events: int = await workflow.execute_activity(
            NOTIFY_SLA, result_type=int, start_to_close_timeout=ONE_LOOK, retry_policy=SLA_RETRIES
        )
        return events
