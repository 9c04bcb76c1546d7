"""Looks, every time its schedule says so, which review items have used much of their SLA, and has people told."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

SLA_TYPE = "SlaWatch"
TELL_SLA = "tell_sla"
"""The activity. It is not in the catalogue: no definition names it."""

ONE_LOOK = timedelta(minutes=5)
RETRIES = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=5)
"""Two minutes in all: the next look finds what this one did not."""


@workflow.defn(name=SLA_TYPE)
class SlaWatch:
    """One look at all tenants' open items."""

    @workflow.run
    async def run(self) -> int:
        """Look, and return how many events there were."""
        events: int = await workflow.execute_activity(
            TELL_SLA, result_type=int, start_to_close_timeout=ONE_LOOK, retry_policy=RETRIES
        )
        return events
