"""Plays all people around the run of a drawn definition: they answer, decide, resolve, pause, abort."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode

from docrail.dag.explain.report import RunReport, StepReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json
from docrail.handlers import StepCall
from docrail.services.tools import Tools
from docrail.workflows.contract.names import ABORT, ANSWER, PAUSE, RESOLVE, RESUME, STATE, child_run_id, workflow_id
from docrail.workflows.run import Run
from tests.workflows.conftest import Gates, Values
from tests.workflows.drawing import BREAKS_OFF, HANGS, REFUSES, STUMBLES, Drawn

ENDED = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.ABORTED, RunStatus.CANCELLED)
NO_ANSWER = (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION)
"""The run has ended or not begun; or it ended in the very task that the update came with (as services/engine.py)."""

LOOK_SECONDS = 0.05


class DrawnWork(Gates):
    """A worker's handlers, of which `work` ends as its config says."""

    async def work(self, call: StepCall[Values], _: Tools) -> Values:
        """End as is said of the item, or of the whole step. A nested run ends for the item that it is run for."""
        outer = call.run_id.split("~")[2:]
        ends: dict[str, str] = call.config.model_dump().get("ends") or {}
        match ends.get(outer[0] if outer else call.item_key or ""):
            case str(end) if end == REFUSES:
                raise ValueError("drawn to fail")
            case str(end) if end == BREAKS_OFF or (end == STUMBLES and call.attempt == 1):
                raise ConnectionError("drawn to break off")
            case str(end) if end == HANGS:
                await asyncio.get_running_loop().create_future()
        return Values(attempt=call.attempt)


@dataclass
class Player:
    """Looks at one run again and again, and does what there is to be done."""

    client: Client
    drawn: Drawn
    run_id: str
    has_moved: bool = False
    retried: set[str] = field(default_factory=set)
    """Parked steps that were tried again already."""

    @property
    def handle(self) -> WorkflowHandle[Run, RunReport]:
        return self._run(self.run_id)

    def _run(self, run_id: str) -> WorkflowHandle[Run, RunReport]:
        return self.client.get_workflow_handle_for(Run.run, workflow_id("default", run_id))

    async def play(self) -> None:
        """Return when the run has ended."""
        for step in self.drawn.case.early:
            await self._tell(self.handle, ANSWER, step, {"answered": step}, "early")
        while True:
            report: RunReport = await self.handle.query(STATE, result_type=RunReport)
            if report.status in ENDED and report.ended_at is not None:
                return
            await self._move(report)
            for name, reported in report.steps.items():
                await self._look_at(name, reported)
            await asyncio.sleep(LOOK_SECONDS)

    async def _move(self, report: RunReport) -> None:
        if report.status is RunStatus.PAUSED:
            await self._tell(self.handle, RESUME)
        elif self.drawn.move and not self.has_moved:
            self.has_moved = True
            await self._tell(self.handle, *([PAUSE] if self.drawn.move == "pause" else [ABORT, "enough"]))

    async def _look_at(self, name: str, reported: StepReport) -> None:
        if reported.status is StepStatus.PARKED:
            await self._mend(name)
        elif reported.kind is StepKind.WORKFLOW and reported.status is StepStatus.RUNNING:
            for item in map(str, range(reported.items.total)) if reported.items else [None]:
                await self._tell(self._run(child_run_id(self.run_id, name, item)), ANSWER, "ask", {}, "ann")
        elif reported.status is StepStatus.WAITING and name not in self.drawn.unanswered:
            for person in ("ann", "bob"):
                await self._tell(self.handle, ANSWER, name, {"answered": name}, person)

    async def _mend(self, name: str) -> None:
        """Give a parked step its output, or have it tried in vain once more before that."""
        kind = "retry" if name in self.drawn.retried - self.retried else "output"
        self.retried.add(name)
        await self._tell(self.handle, RESOLVE, name, kind, None if kind == "retry" else {"fixed": True}, "op")

    async def _tell(self, handle: WorkflowHandle[Run, RunReport], update: str, *arguments: Json) -> None:
        """Send an update. What comes too late or too early is refused, or gets no answer."""
        with suppress(WorkflowUpdateFailedError):
            try:
                await handle.execute_update(update, args=list(arguments))
            except RPCError as error:
                if error.status not in NO_ANSWER:
                    raise
