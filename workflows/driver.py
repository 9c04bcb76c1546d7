"""Drive one run inside a workflow: execute the scheduler's commands and report their results to it as events."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from docrail.dag.engine.events import (
    AbortRequested,
    Answered,
    Cancel,
    ChunkEnded,
    Command,
    Event,
    Finish,
    GoOn,
    HistorySize,
    Item,
    Load,
    Part,
    PauseRequested,
    Record,
    RecordDecision,
    RecordOverdue,
    Resolution,
    Resolved,
    ResumeRequested,
    RunStarted,
    Start,
    StartChunk,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Store,
    Undo,
    WentOn,
    WholeStep,
    WorkerLost,
)
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.engine.park import resolution_problems
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.saved_state import PIECES, begin, load, save, whole_or_piece
from docrail.dag.engine.state import Answer, RunState, StepError, Traffic
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import EndReport, RunReport, end_report_of, markdown, report_of
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json, size_of
from docrail.workflows.answer_validation import MOST_NAMED, check_answer
from docrail.workflows.contract.names import INVALID_VALUE, STATUS, UNKNOWN_STEP, WRONG_STATE, RunRequest
from docrail.workflows.driver_context import context_of, deadline, own_callbacks, placeholders, record_overdue
from docrail.workflows.failures import may_pass
from docrail.workflows.grouping import Groups, SideBySide
from docrail.workflows.lost_workers import NO_LOSSES, Losses, losses_after
from docrail.workflows.map_chunk_client import run_chunk
from docrail.workflows.notifications import letter_of, review_end
from docrail.workflows.outcomes import Work, event_of
from docrail.workflows.review_request import ask, record_decision
from docrail.workflows.start_step import Piece, record, run_nested, undo, wait
from docrail.workflows.value_transfer import kept_state, moved

_LEADS_TO = {
    AbortRequested: RunStatus.ABORTED,
    PauseRequested: RunStatus.PAUSED,
    ResumeRequested: RunStatus.RUNNING,
}
"""The status of a run after it has processed the event."""

TURN_PAUSE = timedelta(milliseconds=1)
"""A timer ends a turn: started work is sent to the server, and the turn's time limit starts again."""

Key = tuple[str, Part]
"""A step's id, and the part of it that runs."""

T = TypeVar("T")

Arrival = tuple[Step, Part, Work, Losses]
"""Ended work, with its step and part, and the workers that it has lost."""

Launch = Callable[[Losses], Work]
"""Starts a step's work, again after it has lost a worker."""


class Driver:
    """Drives one run. Independent of the surrounding workflow, so that one workflow may drive several."""

    def __init__(self, request: RunRequest, plan: Plan, groups: Groups | None = None) -> None:
        """Create the state; nothing starts before `drive`.

        `plan`: of the request's definition. `groups`: those of the workflow's runs. Only a run that is alone in its
        workflow, without them, shows its status there.
        """
        self._calls = groups or SideBySide(frozenset(request.light))
        self._is_leaving = False
        self.plan = plan
        self._first_request = request
        self._is_kept = request.resumed is not None and PIECES in request.resumed
        """Whether the state to continue from is in the value store; until it is loaded, the state here is a new one."""
        self._nested_bytes = sum(size_of(pinned.definition) for pinned in request.nested.values())
        traffic = Traffic(nested_bytes=self._nested_bytes)
        self._take(
            load(self.plan, request.resumed, traffic)
            if request.resumed and not self._is_kept
            else begin(self.plan, request.inputs, context_of(request, placeholders(self.plan.webhooks)), traffic)
        )
        self._inbox: deque[Event | Arrival] = deque()
        self._has_news = asyncio.Event()
        """Set with each arrival; a condition of the SDK's is evaluated in every task, which costs more."""
        self._at = 0.0
        """When the current turns take place, in seconds since the epoch."""
        self._work: dict[Key, Work] = {}
        self._cancelled: set[Key] = set()
        """Work that was cancelled. Used for lookups only: a set's order is not deterministic."""
        self._met_unfit: set[str] = set()
        """Steps that met a worker that lacks what they need. Used for lookups only."""
        self._recording: list[asyncio.Task[None]] = []
        self._moving: list[asyncio.Task[None]] = []
        self._asked: dict[str, float] = {}
        """When each human step began to ask."""
        self._resolving: list[str] = []
        """Parked steps whose resolution is in the inbox."""
        self._passing: set[StepError] = set()
        """Retryable errors."""
        self._shown_status = RunStatus.RUNNING

    def _take(self, state: RunState) -> None:
        """Continue from `state`. Its callback placeholders are kept, as a retry requires."""
        self.state, request = state, self._first_request
        own = tuple(own_callbacks(request.run_id, self.plan.webhooks, state.context.get("run", {})))
        self._request = request.model_copy(update={"callbacks": (*request.callbacks, *own)}) if own else request

    def add(self, event: Event) -> None:
        """Add an event; it is processed in the run's next turn."""
        self._inbox.append(event)
        self._has_news.set()

    def leave(self) -> None:
        """Go no further here: `drive` returns None as soon as no work runs, unless the run has ended by then.

        The state then continues in another workflow (engine/saved_state.py).
        """
        self._is_leaving = True
        self._has_news.set()

    async def drive(self) -> RunStatus | None:
        """Run the plan to its end and return how it ended; a state that has ended already stays as it is."""
        if self._is_kept:
            kept = await kept_state(self._first_request)
            traffic = Traffic(carried_bytes=size_of(kept), nested_bytes=self._nested_bytes)
            self._take(load(self.plan, kept, traffic))
            self._is_kept = False
        self._inbox.appendleft(RunStarted(workflow.time()))  # messages may have arrived before
        self._has_news.set()
        with deadline(self.plan.deadline_seconds, self.add):
            await asyncio.sleep(0)  # its timer is the first command, as in every history
            while self.state.outcome is None and not self._is_leaving:
                await self._has_news.wait()
                self._has_news.clear()
                self._at, info = workflow.time(), workflow.info()  # the same for all events of a workflow task
                history = HistorySize(info.get_current_history_length(), info.get_current_history_size())
                while self._inbox and not self._is_leaving:
                    self._turn(self._inbox.popleft(), history)
                self._show()
        if self._is_leaving and self.state.outcome is None:
            await self._come_to_rest()
        for moving in self._moving:  # an unavailable value store must not delay the run's end
            moving.cancel()
        if self._is_busy():  # answered questions are being closed, or failures recorded
            await workflow.wait_condition(lambda: not self._is_busy())
        return self.state.outcome

    async def _come_to_rest(self) -> None:
        """Stop all work, and keep the results of what completes nevertheless. Nothing new starts."""
        for key, work in self._work.items():
            self._cancelled.add(key)
            work.cancel()
        await workflow.wait_condition(lambda: not self._work)
        for arrival in self._inbox:
            event = event_of(*arrival, workflow.time()) if isinstance(arrival, tuple) else arrival
            if isinstance(event, StepCompleted) or (isinstance(event, StepCancelled) and self.state.stopping):
                advance(self.plan, self.state, event)

    def _is_busy(self) -> bool:
        return bool(self._work or self._recording or self._moving)

    def coming(self) -> RunStatus | None:
        """Return the status that a pending abort, or else the last pending pause or resume, leads to."""
        coming = [_LEADS_TO[type(event)] for event in self._inbox if type(event) in _LEADS_TO]
        if not coming or self.state.outcome is not None:
            return None
        return RunStatus.ABORTED if RunStatus.ABORTED in coming else coming[-1]

    def is_idle(self) -> bool:
        """Return whether every event has been processed. After the run's end none is."""
        return not self._inbox or self.state.outcome is not None

    def report(self) -> RunReport:
        """Return the run's current report."""
        return self._reported(report_of)

    def end_report(self) -> EndReport:
        """Return the report of the run, which has ended."""
        return self._reported(end_report_of)

    def _reported(self, report: Callable[..., T]) -> T:
        request = self._request
        return report(
            self.plan,
            self.state,
            run_id=request.run_id,
            tenant_id=request.tenant_id,
            version=request.version,
            digest=request.digest,
        )

    def saved(self, piece: int | None = None) -> Json:
        """Return the whole current state, for a retry to continue from, or one piece of it (saved_state.py)."""
        kept = self._first_request.resumed if self._is_kept else None
        return whole_or_piece(kept or save(self.plan, self.state), piece)

    def check_answer(self, step_id: str, answer: Answer) -> None:
        """Check that a step accepts this answer now.

        Raises: ApplicationError (UnknownStep, WrongState, NotAllowed, InvalidValue).
        """
        coming = [event.answer for event in self._inbox if isinstance(event, Answered) and event.step == step_id]
        check_answer(self.plan, self.state, self._request, step_id, answer, coming=coming)

    def answer(self, step_id: str, answer: Answer) -> None:
        """Give a step its answer, which was checked before. The first one counts."""
        self.add(Answered(step_id, answer, workflow.time()))

    def check_resolution(self, step_id: str, kind: str, value: Json) -> None:
        """Check that a step is parked and can be resolved this way.

        Raises: ApplicationError (UnknownStep, WrongState, InvalidValue).
        """
        if step_id not in self.plan.index:
            known, message = [*self.plan.index][:MOST_NAMED], f"the run has no step {step_id[:64]!r}"
            raise ApplicationError(message, known, type=UNKNOWN_STEP, non_retryable=True)
        status = self.state.stopping or self.state.steps[self.plan.index[step_id]].status
        if status is not StepStatus.PARKED or step_id in self._resolving:
            found = "being resolved" if step_id in self._resolving else str(status)
            raise ApplicationError(f"{step_id} is {found}", found, type=WRONG_STATE, non_retryable=True)
        if problems := resolution_problems(self.state, self.plan.step(step_id), kind, value):
            wrong = [[problem.path, problem.message, problem.suggestion] for problem in problems]
            raise ApplicationError(problems[0].message, wrong, type=INVALID_VALUE, non_retryable=True)

    def resolve(self, step_id: str, resolution: Resolution) -> None:
        """Resolve a parked step as a person decided, which was checked before. The first decision counts."""
        self._resolving.append(step_id)
        self.add(Resolved(step_id, resolution, workflow.time()))

    def _show(self) -> None:
        """Update the run's status in Temporal's UI and in lists of runs."""
        if isinstance(self._calls, Groups):
            return
        workflow.set_current_details(markdown(self.plan, self.state))
        status = self.state.status
        if self.state.outcome is None and status is not self._shown_status:
            self._shown_status = status
            workflow.upsert_search_attributes([STATUS.value_set(status)])

    def _turn(self, arrival: Event | Arrival, history: HistorySize) -> None:
        event = event_of(*arrival, self._at) if isinstance(arrival, tuple) else arrival
        if isinstance(event, StepFailed) and isinstance(arrival, tuple):
            step, _, work, _ = arrival
            if may_pass(step.definition, work.exception()):
                self._passing.add(event.error)
        if isinstance(event, ChunkEnded):
            self._passing.update(ended.error for ended in event.ends if ended.error and ended.may_pass)
        if isinstance(event, Resolved):
            self._resolving.remove(event.step)
        commands = advance(self.plan, self.state, event, history)
        with self._calls.gathered(self.plan, commands):
            for command in commands:
                self._obey(command)

    def _obey(self, command: Command) -> None:
        match command:
            case Start(step_id, config, part, cache_key):
                step, losses = self.plan.step(step_id), Losses(self._at, step_id in self._met_unfit)
                launch = partial(self._launch, step, config, part, cache_key)
                self._follow(step, part, launch(losses), partial(self._ended, step, part, losses, launch))
            case StartChunk(step_id):
                step = self.plan.step(step_id)
                chunk = run_chunk(self._request, step, command, self.state, self.add)
                ended = partial(self._ended, step, command.chunk, NO_LOSSES, None)
                self._follow(step, command.chunk, asyncio.create_task(chunk), ended)
            case Cancel(step_id, part):
                if work := self._work.get((step_id, part)):  # otherwise its end is in the inbox already
                    self._cancelled.add((step_id, part))
                    work.cancel()
            case Record() | RecordDecision() | RecordOverdue():
                self._run_apart(self._recorded(command), self._recording)
            case Load() | Store():
                self._run_apart(self._move(command), self._moving)
            case GoOn():
                self._run_apart(self._go_on(), self._moving)
            case Finish():
                pass  # part of the state

    def _recorded(self, command: Record | RecordDecision | RecordOverdue) -> Coroutine[None, None, None]:
        """Return the coroutine that records or notifies, with the current data."""
        match command:
            case Record(step_id):
                return record(letter_of(self._request, self.plan, self.state, step_id, self._passing))
            case RecordDecision(step_id, decision):
                return record_decision(self._request, step_id, decision, self._asked[step_id])
            case RecordOverdue():
                return record_overdue(self._request, self.plan)

    def _run_apart(self, work: Coroutine[None, None, None], among: list[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        among.append(task)
        task.add_done_callback(partial(self._ended_apart, among))

    def _ended_apart(self, among: list[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        among.remove(task)
        if not task.cancelled():
            task.result()

    async def _move(self, command: Load | Store) -> None:
        self.add(await moved(self._request.tenant_id, command))

    async def _go_on(self) -> None:
        await workflow.sleep(TURN_PAUSE)
        self.add(WentOn(workflow.time()))

    def _follow(self, step: Step, part: Part, work: Work, ended: Callable[[Work], None]) -> None:
        self._work[step.id, part] = work
        work.add_done_callback(ended)

    def _launch(self, step: Step, config: Json, part: Part, cache_key: str | None, losses: Losses) -> Work:
        if isinstance(part, Undo):
            return undo(self._request, step, config, losses)
        piece = Piece(config, cache_key=cache_key)
        if isinstance(part, Item) and (fan := self.state.steps[step.index].fan) is not None:
            piece = replace(piece, item_key=fan.items[part.place].key, inline_bytes=inline_bytes(len(fan.items)))
        match step.kind:
            case StepKind.HANDLER:
                return self._calls.run_handler(self._request, step, piece, losses)
            case StepKind.WORKFLOW:
                return asyncio.create_task(run_nested(self._request, step, piece))
            case StepKind.HUMAN:
                asked_at = self._asked[step.id] = workflow.time()
                end_of = partial(review_end, self._request, self.state, step)
                return asyncio.create_task(ask(self._request, step, config, asked_at, end_of))
            case _:
                return asyncio.create_task(wait(config["seconds"]))

    def _ended(self, step: Step, part: Part, losses: Losses, launch: Launch | None, work: Work) -> None:
        """Put ended work into the inbox, where its result is read, so that bugs surface in the main task."""
        if (step.id, part) in self._cancelled:
            losses = replace(losses, is_cancelled=True)
        after = None if launch is None else losses_after(step.definition, work, losses)
        if launch is None or after is None:
            del self._work[step.id, part]
            self._cancelled.discard((step.id, part))
            self._inbox.append((step, part, work, losses))
            self._has_news.set()
            return
        if after.met_unfit:
            self._met_unfit.add(step.id)
        if isinstance(part, WholeStep):
            now, pause = workflow.time(), after.pause_seconds
            self.add(WorkerLost(step.id, after.earlier, after.failed, now + pause if pause else None, now))
        self._follow(step, part, launch(after), partial(self._ended, step, part, after, launch))
