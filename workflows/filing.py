"""Tells the lake what people decided and corrected, whenever the API finds that there is something to tell."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

FILING_TYPE = "LakeFiling"
FILE_REVIEWED = "file_reviewed"
"""The activity. It is not in the catalogue: no definition names it."""

LONGEST, HEARTBEAT = timedelta(hours=6), timedelta(minutes=1)
"""Hours only after an upgrade: all that was ever decided is filed."""
RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=10
)
"""Four minutes in all: the API's next look begins anew."""


@workflow.defn(name=FILING_TYPE)
class LakeFiling:
    """One round over all tenants' documents that people decided or corrected."""

    @workflow.run
    async def run(self) -> int:
        """File them, and return how many there were."""
        filed: int = await workflow.execute_activity(
            FILE_REVIEWED,
            result_type=int,
            start_to_close_timeout=LONGEST,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRIES,
        )
        return filed
