"""A newer API and runs that stay on workers of an older build: what it asks of them, they understand."""

import uuid

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import Worker

from dag.state import RunStatus
from operations.principal import system_principal
from operations.run_control import abort_run
from tests.api.service import Service
from workflows.contract import ABORT, workflow_id


@workflow.defn(sandboxed=False)
class BeforeNames:
    """A run as builds had it whose aborts told nobody's name."""

    def __init__(self) -> None:
        self.reason = ""

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: bool(self.reason))
        return self.reason

    @workflow.update(name=ABORT)
    async def abort(self, reason: str, is_continued: bool = False) -> RunStatus:
        self.reason = reason
        return RunStatus.ABORTED

    @abort.validator
    def _may_abort(self, reason: str, is_continued: bool = False) -> None:
        """Refuse nothing."""


async def test_a_run_of_an_older_build_can_be_aborted(workerless: Service) -> None:
    app, queue = workerless.app, f"older-{uuid.uuid4().hex}"
    id_ = workflow_id("default", f"older.{queue}")
    address = workerless.settings.temporal_address
    assert address
    async with Worker(await Client.connect(address), task_queue=queue, workflows=[BeforeNames]):
        handle = await app.temporal.start_workflow(BeforeNames.run, id=id_, task_queue=queue)
        status = await abort_run(app, system_principal("default"), f"older.{queue}", "wrong file")
        assert (status, await handle.result()) == (RunStatus.ABORTED, "wrong file")
