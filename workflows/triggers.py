"""Fire a trigger: one pass starts a run, or uploads what is new in a folder."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from docrail.workflows.contract.names import FIRE_TRIGGER, TRIGGER_TYPE

with workflow.unsafe.imports_passed_through():
    from docrail.workflows.contract.messages import TriggerPass, TriggerReport, TriggerRequest

LONGEST, HEARTBEAT = timedelta(minutes=50), timedelta(minutes=1)

RETRIES = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_interval=timedelta(minutes=1), maximum_attempts=10)
"""The next pass of a folder finds what this one did not."""


@workflow.defn(name=TRIGGER_TYPE)
class Trigger:
    """One pass of a trigger."""

    @workflow.run
    async def run(self, request: TriggerRequest) -> TriggerReport:
        """Run one pass, and return what it has found."""
        moment = workflow.info().start_time.strftime("%Y-%m-%dT%H:%M:%SZ")
        report: TriggerReport = await workflow.execute_activity(
            FIRE_TRIGGER,
            TriggerPass(request=request, moment=moment),
            result_type=TriggerReport,
            start_to_close_timeout=LONGEST,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRIES,
        )
        return report
