"""One run inside a workflow: obeys the scheduler's commands and tells it how they ended."""

import asyncio
from collections import deque
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError, is_cancelled_exception

from dag.calls import DeadLetter, ReviewEnd, StepOutcome
from dag.inputs import MisfitError, check_answer
from dag.kinds import StepKind, WaitFor
from dag.messages import (
    COMPENSATION,
    AbortRequested,
    Answered,
    Cancel,
    Event,
    Finish,
    Record,
    Resolution,
    Resolved,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from dag.parking import resolution_problem
from dag.plan import Step, plan_of
from dag.report import RunReport, markdown, report_of
from dag.rewind import begin, load, save
from dag.scheduler import advance
from dag.state import Answer, RunStatus, StepError, StepStatus
from dag.values import Json, size_of
from workflows.context import context_of, own_callbacks, placeholders
from workflows.contract import MISFIT, STATUS, UNKNOWN_STEP, WRONG_STATE, RunRequest
from workflows.failures import attempts_of, error_of, may_pass
from workflows.launch import ask, record, run_handler, run_nested, undo, wait

Work = asyncio.Task[StepOutcome | RunReport | None]
"""What runs for a step or an item: an activity, a nested run, a wait (None: time is up)."""

Key = tuple[str, int | None]
"""A step's id, and which item of it."""


class Driver:
    """Drives one run. Needs nothing of the workflow around it, so that one workflow may drive several."""

    def __init__(self, request: RunRequest) -> None:
        """Compile the plan and lay out the state; nothing starts before `drive`."""
        self.plan = plan_of(request.definition)
        self.state = (
            load(self.plan, request.resumed)
            if request.resumed
            else begin(self.plan, request.inputs, context_of(request, placeholders(self.plan.steps)))
        )
        # The state knows what stands for the URLs: a retry goes on with the placeholders that its state has.
        self.state.nested_bytes = sum(size_of(pinned.definition) for pinned in request.nested.values())
        own = tuple(own_callbacks(request.run_id, self.plan.steps, self.state.context.get("run", {})))
        self._request = request.model_copy(update={"callbacks": (*request.callbacks, *own)})
        self._inbox: deque[Event | tuple[Step, int | None, Work]] = deque()
        self._work: dict[Key, Work] = {}
        self._recording: list[asyncio.Task[None]] = []
        self._answered: dict[str, Answer] = {}
        self._resolving: list[str] = []
        """Parked steps whose resolution is in the inbox."""
        self._passing: set[StepError] = set()
        """Errors of a kind that is tried again."""
        self._told = RunStatus.RUNNING

    def tell(self, event: Event) -> None:
        """Add an event; it is decided on in the run's next turn."""
        self._inbox.append(event)

    async def drive(self) -> RunStatus:
        """Run the plan to its end and return how it ended."""
        self._inbox.appendleft(RunStarted(workflow.time()))  # messages may have come before
        while self.state.outcome is None:
            await workflow.wait_condition(lambda: bool(self._inbox))
            while self._inbox:
                self._turn(self._inbox.popleft())
            self._show()
        if self._work or self._recording:  # questions that were answered are being closed, failures being told
            await workflow.wait_condition(lambda: not self._work and not self._recording)
        return self.state.outcome

    def is_stopping(self) -> bool:
        """Tell whether an abort has been told that is yet to be decided on."""
        return any(isinstance(event, AbortRequested) for event in self._inbox)

    def is_idle(self) -> bool:
        """Tell whether every event told so far has been decided on; after the run's end nothing is."""
        return not self._inbox or self.state.outcome is not None

    def report(self) -> RunReport:
        """Return what is told of the run now."""
        request = self._request
        return report_of(
            self.plan,
            self.state,
            run_id=request.run_id,
            tenant_id=request.tenant_id,
            version=request.version,
            digest=request.digest,
        )

    def saved(self) -> dict[str, Json]:
        """Return the whole state as it is now, for a retry to go on from."""
        return save(self.plan, self.state)

    def check_answer(self, step_id: str, answer: Json) -> None:
        """Check that a step takes this answer now. Raises: ApplicationError (UnknownStep, WrongState, Misfit)."""
        step = self.plan.steps[self.plan.index[step_id]] if step_id in self.plan.index else None
        definition = step.definition if step else None
        wait_, human = (definition.wait, definition.human) if definition else (None, None)
        if step is None or not (human or (wait_ and wait_.for_ is not WaitFor.TIMER)):
            raise ApplicationError(
                f"the run has no step {step_id[:64]!r} that waits for an answer", type=UNKNOWN_STEP, non_retryable=True
            )
        state = self.state.steps[step.index]
        told = str(self.state.outcome or self.state.stopping or state.status)
        if state.answer or step_id in self._answered:
            told = "answered"
        if told in (StepStatus.PENDING, StepStatus.QUEUED, StepStatus.WAITING):
            try:
                check_answer((human.form if human else wait_ and wait_.accept) or {}, answer)
            except MisfitError as error:
                problems = [[problem.path, problem.message] for problem in error.problems]
                raise ApplicationError(str(error), problems, type=MISFIT, non_retryable=True) from error
            return
        raise ApplicationError(f"{step_id} is {told}", told, type=WRONG_STATE, non_retryable=True)

    def answer(self, step_id: str, answer: Answer) -> None:
        """Give a step its answer; checked before, and the first one counts."""
        self._answered.setdefault(step_id, answer)
        self.tell(Answered(step_id, answer, workflow.time()))

    def check_resolution(self, step_id: str, kind: str, value: Json) -> None:
        """Check that a step is parked and can be resolved so. Raises: ApplicationError (UnknownStep, WrongState)."""
        if step_id not in self.plan.index:
            raise ApplicationError(f"the run has no step {step_id[:64]!r}", type=UNKNOWN_STEP, non_retryable=True)
        status = self.state.stopping or self.state.steps[self.plan.index[step_id]].status
        if status is not StepStatus.PARKED or step_id in self._resolving:
            told = "being resolved" if step_id in self._resolving else str(status)
            raise ApplicationError(f"{step_id} is {told}", told, type=WRONG_STATE, non_retryable=True)
        problem = resolution_problem(self.plan.step(step_id), kind, value)
        if problem:
            raise ApplicationError(problem, [["value", problem]], type=MISFIT, non_retryable=True)

    def resolve(self, step_id: str, resolution: Resolution) -> None:
        """Do with a parked step what a person decided; checked before, and the first decision counts."""
        self._resolving.append(step_id)
        self.tell(Resolved(step_id, resolution, workflow.time()))

    def _show(self) -> None:
        """Tell Temporal's UI, and whoever lists runs, how the run stands."""
        workflow.set_current_details(markdown(self.plan, self.state))
        status = self.state.status
        if self.state.outcome is None and status is not self._told:
            self._told = status
            workflow.upsert_search_attributes([STATUS.value_set(status)])

    def _turn(self, arrival: Event | tuple[Step, int | None, Work]) -> None:
        event = _event_of(*arrival) if isinstance(arrival, tuple) else arrival
        if isinstance(event, StepFailed) and isinstance(arrival, tuple) and may_pass(arrival[2].exception()):
            self._passing.add(event.error)
        if isinstance(event, Resolved):
            self._resolving.remove(event.step)
        for command in advance(self.plan, self.state, event):
            match command:
                case Start(step_id, config, item):
                    self._start(self.plan.step(step_id), config, item)
                case Cancel(step_id, item):
                    if work := self._work.get((step_id, item)):  # else its end is in the inbox already
                        work.cancel()
                case Record(step_id):
                    self._record(self.plan.step(step_id))
                case Finish():
                    pass  # the state says so

    def _record(self, step: Step) -> None:
        recording = asyncio.create_task(record(self._letter(step)))
        self._recording.append(recording)
        recording.add_done_callback(self._recorded)

    def _recorded(self, recording: asyncio.Task[None]) -> None:
        self._recording.remove(recording)
        recording.result()

    def _letter(self, step: Step) -> DeadLetter:
        request, state = self._request, self.state.steps[step.index]
        error = state.error or StepError("", "")
        errors = [item.error for item in state.fan.items if item.error] if state.fan else [error]
        is_aborted = self.state.stopping is RunStatus.ABORTED  # nothing is left to be done about its steps
        return DeadLetter(
            tenant_id=request.tenant_id,
            run_id=request.run_id,
            step_id=step.id,
            definition_id=self.plan.id,
            version=request.version,
            handler=step.definition.handler,
            document_id=None if request.document is None else request.document["document_id"],
            status=StepStatus.CANCELLED if is_aborted else state.status,
            error_type=error.type,
            error_message=error.message,
            retryable=bool(errors) and self._passing.issuperset(errors),
            attempts=state.attempts,
            failed_at=workflow.time(),
            resolved_by=state.resolved_by,
        )

    def _start(self, step: Step, config: Json, item: int | None) -> None:
        work = self._launch(step, config, item)
        self._work[step.id, item] = work
        work.add_done_callback(partial(self._ended, step, item, work))

    def _launch(self, step: Step, config: Json, item: int | None) -> Work:
        if item == COMPENSATION:
            return undo(self._request, step, config)
        fan = self.state.steps[step.index].fan
        item_key = None if item is None or fan is None else fan.items[item].key
        match step.kind:
            case StepKind.HANDLER:
                return run_handler(self._request, step, config, item_key)
            case StepKind.WORKFLOW:
                return asyncio.create_task(run_nested(self._request, step, config, item_key))
            case StepKind.HUMAN:
                return asyncio.create_task(ask(self._request, step, config, partial(self._end_of, step)))
            case _:
                return asyncio.create_task(wait(config["seconds"]))

    def _end_of(self, step: Step) -> ReviewEnd:
        """Return how a human step ended; one that is still waiting has run out of time."""
        state = self.state.steps[step.index]
        answer = state.answer or Answer(None)
        status = state.status if state.status is not StepStatus.WAITING else StepStatus.CANCELLED
        return ReviewEnd(
            tenant_id=self._request.tenant_id,
            run_id=self._request.run_id,
            step_id=step.id,
            status=status,
            decision=answer.value,
            decided_by=answer.by,
        )

    def _ended(self, step: Step, item: int | None, work: Work, _: object) -> None:
        del self._work[step.id, item]
        self._inbox.append((step, item, work))  # its result is read in the main task, where a bug surfaces


def _event_of(step: Step, item: int | None, work: Work) -> Event:
    """Return the event that ended work is. Only Temporal's failures are outcomes: anything else is a bug."""
    at = workflow.time()
    try:
        result = work.result()
    except (FailureError, asyncio.CancelledError) as error:
        if is_cancelled_exception(error):
            return StepCancelled(step.id, at, item)
        return StepFailed(step.id, error_of(step.definition, error), attempts_of(step.definition, error), at, item)
    match result:
        case StepOutcome(output=output, attempt=attempt):
            return StepCompleted(step.id, output, attempt, at, item)
        case RunReport(status=RunStatus.COMPLETED, outputs=outputs):
            return StepCompleted(step.id, outputs, 1, at, item)
        case RunReport(run_id=run_id, reason=reason):
            return StepFailed(step.id, StepError("RunAborted", f"{run_id} was aborted: {reason}"), 1, at, item)
        case None:
            return TimedOut(step.id, at)
