"""Plays a test of a definition on a real Temporal server that skips time: the workflow that all runs are, mocks around.

The simulation has said what happens outside the run, and in which order (dag/simulation/simulate.py). Here each of its
cues is given when the run has begun the step that it is for, and the next one when the run has taken it.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from google.protobuf.field_mask_pb2 import FieldMask
from temporalio.api.common.v1 import TimeSkippingConfig, WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflow.v1 import WorkflowExecutionOptions
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse, UpdateWorkflowExecutionOptionsRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from docrail.adapters.temporal.draining import working
from docrail.adapters.temporal.turns import TurnExecutor
from docrail.dag.engine.approvals import approvals_of
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.explain.report import RunReport, StepReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.inputs import complete_inputs
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.language.test_cases import Trial
from docrail.dag.simulation.cues import TENANT_ID, Cue, CueKind, Played, document_of, people
from docrail.dag.values.json_values import digest
from docrail.worker import DEFAULT_SLOTS
from docrail.workflows.contract.names import (
    ANSWER,
    BY_DECISION,
    STATE,
    WORKFLOW_TYPE,
    RunRequest,
    nested_key,
    workflow_id,
)
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from tests.simulation.stage import Stage, place_of, stage_activities, with_test_callbacks
from tests.simulation.stand_in import GIVEN, StandIn, StandIns, stand_in

DYNAMIC_CONFIG = ("frontend.WorkflowTimeSkippingEnabled=true",)
"""Options that let a server skip time."""

PATIENCE_SECONDS = 30.0
"""How long the run is given to do what it must do next: it takes milliseconds."""
POLL_SECONDS = 0.01

AT_ONCE_SECONDS = 1.0
"""Between things that are due: less than this really passes. A skip might skip what follows from the first, too."""

UNLIMITED_SECONDS = 3_600.0
"""An attempt's timeout in a test: mocks wait for each other, and take no time of the run's own."""

_OPEN = (StepStatus.PENDING, StepStatus.QUEUED, StepStatus.RUNNING, StepStatus.WAITING)


class OffScriptError(Exception):
    """The run on the server does something else than the simulated one; the message says where they part."""


@dataclass
class TrialServer:
    """Plays tests one after the other, by a worker of its own."""

    client: Client
    task_queue: str
    stages: dict[str, Stage] = field(default_factory=dict)

    async def play(self, definition: Definition, trial: Trial, simulated: Played) -> Played:
        """Return how the run of a test ends on the server. Raises: OffScriptError."""
        if simulated.unsaid:
            return simulated
        request = _request(definition, trial, simulated.report.run_id)
        stage = self.stages[request.run_id] = Stage(request.run_id)
        handle: WorkflowHandle[Run, RunReport] = await self.client.start_workflow(
            WORKFLOW_TYPE,
            request,
            id=workflow_id(TENANT_ID, request.run_id),
            task_queue=self.task_queue,
            result_type=RunReport,
        )
        try:
            report = await _Player(self.client, handle, stage, definition).play(simulated)
        finally:
            with suppress(RPCError):  # it has ended by itself
                await handle.terminate("the test is over")
        report = report.model_copy(update={"outputs": with_test_callbacks(report.outputs)})
        return Played(report, stage.given, tuple(stage.undone), memory=stage.memory)


@asynccontextmanager
async def trial_server(client: Client, handlers: Mapping[str, object]) -> AsyncIterator[TrialServer]:
    """Give what plays tests on `client`'s server, which was started with DYNAMIC_CONFIG; `handlers` by name."""
    server = TrialServer(client, f"tests-{uuid.uuid4().hex}")
    worker = Worker(
        client,
        task_queue=server.task_queue,
        workflows=[Run, Chunk, StandIn],
        activities=stage_activities(server.stages, handlers),
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=[StandIns()],
        workflow_task_executor=TurnExecutor(DEFAULT_SLOTS),
        max_concurrent_activities=1_000,
        max_heartbeat_throttle_interval=timedelta(milliseconds=20),
    )
    async with working([worker]):
        yield server


def _request(definition: Definition, trial: Trial, run_id: str) -> RunRequest:
    """Return the run of a test: no step waits for its turn, times out by itself, or starts a real nested run."""
    document = to_json(definition)
    for step in document["steps"]:
        step.pop("resource_tag", None)
        step.pop("total_timeout_seconds", None)
        if "handler" in step:
            step |= {"timeout_seconds": UNLIMITED_SECONDS, "heartbeat_seconds": UNLIMITED_SECONDS}
        if "workflow" in step:
            step["workflow"] = {**step["workflow"], "inputs": {GIVEN: step["workflow"].get("inputs", {})}}
    return RunRequest(
        tenant_id=TENANT_ID,
        run_id=run_id,
        definition=document,
        version=1,
        digest=digest(document),
        inputs=complete_inputs(definition, trial.inputs),
        document=document_of(trial),
        nested={nested_key(step.workflow): stand_in() for step in definition.steps if step.workflow},
        started_by="starter",
        semantics=SEMANTICS,
    )


class _Player:
    """Gives one run its cues."""

    def __init__(
        self, client: Client, handle: WorkflowHandle[Run, RunReport], stage: Stage, definition: Definition
    ) -> None:
        self._client, self._handle, self._stage = client, handle, stage
        self._clock = 0.0
        """When the last thing was due that was waited for."""
        self._in_chunks: dict[str, int] = {}
        """How many items of a step have ended in chunks."""
        self._kinds = {step.id: step.kind for step in definition.steps}
        self._approvals = {step.id: approvals_of(step.human) for step in definition.steps}

    async def play(self, simulated: Played) -> RunReport:
        """Give all cues and return the run's report. Raises: OffScriptError."""
        for cue in simulated.cues:
            async with _patience(f"step '{cue.step}' has to {cue.kind.value.replace('_', ' ')}"):
                await self._follow(cue)
        if simulated.report.status == "waiting":
            return await self._waiting()
        async with _patience("the run has to end"):
            with suppress(WorkflowFailureError):
                await self._handle.result()
        return await self._report()

    async def _waiting(self) -> RunReport:
        """Return the report of a run in which nothing goes on, once its people have been asked."""
        async with _patience("the run has to wait"):
            while (report := await self._report()).status != "waiting":  # noqa: ASYNC110 - a server sets no Event
                await asyncio.sleep(POLL_SECONDS)
            for step_id, step in report.steps.items():
                if step.kind is StepKind.HUMAN and step.status is StepStatus.WAITING:
                    await self._stage.arrival((step_id, None))
        return report

    async def _follow(self, cue: Cue) -> None:
        kind = self._kinds[cue.step]
        match cue.kind:
            case CueKind.ANSWER:
                await self._wait_for_question(cue)
                for by in people(self._approvals[cue.step]):
                    await self._answer(cue, by)
            case CueKind.TIME_OUT:
                await self._wait_for_question(cue)
                await self._time_out(cue)
            case CueKind.CHUNK:
                ended = self._in_chunks.get(cue.step, 0)
                await self._until(cue, lambda step: step.status not in _OPEN or _ended(step) >= ended)
            case CueKind.STOP if kind in (StepKind.WAIT, StepKind.HUMAN):
                await self._until(cue, lambda step: step.status not in _OPEN)
            case CueKind.STOP | CueKind.COMPLETE | CueKind.FAIL:
                await self._act(cue, is_nested=kind is StepKind.WORKFLOW and not cue.undoes)

    async def _answer(self, cue: Cue, by: str) -> None:
        by_queue = f"{BY_DECISION}{uuid.uuid4().hex}"  # a step that asks about the document takes no other
        try:
            await self._handle.execute_update(ANSWER, args=[cue.step, cue.value, by], id=by_queue)
        except WorkflowUpdateFailedError as error:
            raise OffScriptError(f"step '{cue.step}' refused its answer: {error.cause}") from error

    async def _wait_for_question(self, cue: Cue) -> None:
        """Return when the step waits, or has waited: what is due at once with something else may be over already."""
        await self._until(cue, lambda step: step.status not in (StepStatus.PENDING, StepStatus.QUEUED))
        if self._kinds[cue.step] is StepKind.HUMAN:
            await self._stage.arrival((cue.step, None))

    async def _act(self, cue: Cue, *, is_nested: bool) -> None:
        """Let an activity end, and return when the run has taken its end."""
        place = place_of(cue, self._stage.run_id, is_nested=is_nested)
        if cue.kind is not CueKind.STOP:
            await self._stage.arrival(place)
        if cue.in_chunk:  # a chunk cannot be queried for its progress; its own cue comes last
            self._in_chunks[cue.step] = self._in_chunks.get(cue.step, 0) + (cue.kind is not CueKind.STOP)
            self._stage.send(place, cue)
            return
        before = _ended((await self._report()).steps[cue.step])
        self._stage.send(place, cue)
        if cue.undoes:
            await self._until(cue, lambda step: step.compensation is not StepStatus.RUNNING)
        elif cue.item_key is None:
            await self._until(cue, lambda step: step.status not in _OPEN)
        elif cue.kind is CueKind.STOP:
            await self._until(cue, lambda step: _running(step) <= self._stage.held(cue.step))
        else:
            await self._until(cue, lambda step: step.status not in _OPEN or _ended(step) > before)

    async def _time_out(self, cue: Cue) -> None:
        """Let time pass until the step's is up. It skips to whatever is due next, an escalation perhaps, or a deadline.

        What is due with what was due last is over in a moment without skipping, and then there may be nothing to skip.
        """
        while cue.due - self._clock > AT_ONCE_SECONDS and await self._is_waiting(cue.step):
            before = (await self._handle.describe()).history_length
            await self._skip(TimeSkippingConfig(enabled=True, max_session_skip_count=1, disable_propagation=True))
            async for event in self._handle.fetch_history_events(wait_new_event=True):
                if event.event_id > before and event.event_type == EventType.EVENT_TYPE_TIMER_FIRED:
                    break
        await self._until(cue, lambda step: step.status is not StepStatus.WAITING)
        self._clock = cue.due

    async def _skip(self, skipping: TimeSkippingConfig) -> None:
        await self._client.workflow_service.update_workflow_execution_options(
            UpdateWorkflowExecutionOptionsRequest(
                namespace=self._client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=self._handle.id),
                workflow_execution_options=WorkflowExecutionOptions(time_skipping_config=skipping),
                update_mask=FieldMask(paths=["time_skipping_config"]),
            )
        )

    async def _is_waiting(self, step_id: str) -> bool:
        """Return whether the step still waits, once the run has taken everything there is: until then it may say so."""
        while self._is_busy((await self._handle.describe()).raw_description):  # noqa: ASYNC110 - as above
            await asyncio.sleep(POLL_SECONDS)
        return (await self._report()).steps[step_id].status is StepStatus.WAITING

    def _is_busy(self, run: DescribeWorkflowExecutionResponse) -> bool:
        """Return whether any work runs apart from that which waits for its cue."""
        begun = len(run.pending_activities) + len(run.pending_children)
        return run.HasField("pending_workflow_task") or begun > self._stage.held()

    async def _until(self, cue: Cue, claim: Callable[[StepReport], bool]) -> None:
        while not claim((await self._report()).steps[cue.step]):  # noqa: ASYNC110 - as above
            await asyncio.sleep(POLL_SECONDS)

    async def _report(self) -> RunReport:
        report: RunReport = await self._handle.query(STATE, result_type=RunReport)
        return report


@asynccontextmanager
async def _patience(what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield
    except TimeoutError:
        raise OffScriptError(f"on the server this did not happen within {PATIENCE_SECONDS:g} s: {what}") from None


def _ended(step: StepReport) -> int:
    return 0 if step.items is None else step.items.completed + step.items.failed


def _running(step: StepReport) -> int:
    return 0 if step.items is None else step.items.running
