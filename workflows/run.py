"""Define the workflow that interprets any plan. Signals and updates only add events; queries return the state."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from docrail.dag.engine.events import (
        AbortRequested,
        CancelRequested,
        PauseRequested,
        Resolution,
        ResolutionKind,
        ResumeRequested,
    )
    from docrail.dag.engine.plan import plan_of
    from docrail.dag.engine.state import Answer
    from docrail.dag.explain.explain import facts_of_run
    from docrail.dag.explain.packing import packed_answer
    from docrail.dag.explain.progress import progress_of
    from docrail.dag.explain.report import RunReport, for_outer
    from docrail.dag.explain.step_data import input_of, items_of
    from docrail.dag.language.statuses import RunStatus, StepStatus
    from docrail.dag.values.json_values import Json
    from docrail.workflows.contract.names import (
        ABORT,
        ANSWER,
        EXPLAIN,
        EXPLAIN_ALL,
        OUTPUT,
        PAUSE,
        PROGRESS,
        RESOLVE,
        RESUME,
        RUN_FAILED,
        SAVED,
        STATE,
        STATUS,
        STEP_INPUT,
        STEP_ITEMS,
        WORKFLOW_TYPE,
        WRONG_STATE,
        RunRequest,
        run_id_of,
    )
    from docrail.workflows.driver import Driver
    from docrail.workflows.value_transfer import outputs_for_outer


@workflow.defn(name=WORKFLOW_TYPE)
class Run:
    """One run of one definition."""

    @workflow.init
    def __init__(self, request: RunRequest) -> None:
        """Create the run's state, so that messages that arrive before `run` find it."""
        self._driver = Driver(request, plan_of(request.definition, request.semantics))

    @workflow.run
    async def run(self, request: RunRequest) -> RunReport:
        """Run the plan to its end. A failed run raises RunFailed with the report, so that Temporal marks it failed."""
        driving = asyncio.create_task(self._driver.drive())
        try:
            status = await asyncio.shield(driving)
        except asyncio.CancelledError:
            self._driver.add(CancelRequested(workflow.time()))
            status = await driving
        await workflow.wait_condition(workflow.all_handlers_finished)
        report = await self._last_report(request)
        match status:
            case RunStatus.FAILED:
                raise ApplicationError(report.reason, report, type=RUN_FAILED, non_retryable=True)
            case RunStatus.CANCELLED:
                raise asyncio.CancelledError(report.reason)
            case RunStatus.ABORTED:
                workflow.upsert_search_attributes([STATUS.value_set(status)])
        return report

    async def _last_report(self, request: RunRequest) -> RunReport:
        """Return the final report, reduced for the outer run if there is one."""
        report = self._driver.end_report()
        if workflow.info().parent is None:
            return report
        outputs = await outputs_for_outer(request, report.outputs)
        return for_outer(report.model_copy(update={"outputs": outputs}))

    @workflow.query(name=STATE)
    def state(self) -> RunReport:
        """Return each step's status, reason, attempts and duration, and the totals."""
        return self._driver.report()

    @workflow.query(name=OUTPUT)
    def output(self, step_id: str) -> Json:
        """Return a step's output, null if it has none."""
        plan, state = self._driver.plan, self._driver.state
        return state.steps[plan.index[step_id]].output if step_id in plan.index else None

    @workflow.query(name=SAVED)
    def saved(self, piece: int | None = None) -> Json:
        """Return the whole state, for a retry to continue from, or one piece of it. A state too large is refused."""
        return self._driver.saved(piece)

    @workflow.query(name=EXPLAIN)
    def explain(self, step_id: str | None = None, after: str | None = None, limit: int = 100) -> Json:
        """Return the facts of a RunExplanation, of one step or a page of steps, without default values."""
        driver, run_id = self._driver, run_id_of(workflow.info().workflow_id)
        facts = facts_of_run(driver.plan, driver.state, run_id, step_id=step_id, after=after, limit=limit)
        return facts.model_dump(mode="json", exclude_defaults=True)

    @workflow.query(name=EXPLAIN_ALL)
    def explain_all(self, after: str | None = None) -> str:
        """Return the facts of all steps after `after`, or of as many as one answer holds, packed (packing.py)."""
        return packed_answer(self._driver.plan, self._driver.state, run_id_of(workflow.info().workflow_id), after=after)

    @workflow.query(name=PROGRESS)
    def progress(self) -> Json:
        """Return a RunProgress without default values."""
        return progress_of(self._driver.plan, self._driver.state).model_dump(mode="json", exclude_defaults=True)

    @workflow.query(name=STEP_INPUT)
    def step_input(self, step_id: str, key: str | None = None) -> Json:
        """Return the input of a step, or of an item of its list; null if there is no such step."""
        plan, state = self._driver.plan, self._driver.state
        return input_of(plan, state, step_id, key).model_dump(mode="json") if step_id in plan.index else None

    @workflow.query(name=STEP_ITEMS)
    def step_items(self, step_id: str, status: str | None = None, after: int = -1, limit: int = 100) -> Json:
        """Return a page of the items of a step's list without default values; null if there is no such step."""
        plan, state = self._driver.plan, self._driver.state
        if step_id not in plan.index:
            return None
        wanted = None if status is None else StepStatus(status)
        found = items_of(plan, state, step_id, status=wanted, after=after, limit=limit)
        return found.model_dump(mode="json", exclude_defaults=True)

    @workflow.signal(name=PAUSE, description="Start no more steps until resumed")
    def signal_pause(self) -> None:
        """Pause as soon as a worker is available."""
        self._pause()

    @workflow.signal(name=RESUME, description="Go on after a pause")
    def signal_resume(self) -> None:
        """Resume as soon as a worker is available."""
        self._resume()

    @workflow.signal(name=ABORT, description="End the run early as ABORTED")
    def signal_abort(self, reason: str) -> None:
        """Abort as soon as a worker is available."""
        self._abort(reason)

    @workflow.update(name=PAUSE, description="Start no more steps until resumed; refused unless running")
    async def pause(self) -> RunStatus:
        """Pause and return the new status."""
        self._pause()
        return await self._settled()

    @pause.validator
    def _may_pause(self) -> None:
        self._require(RunStatus.RUNNING, RunStatus.WAITING)

    @workflow.update(name=RESUME, description="Go on after a pause; refused unless paused")
    async def resume(self) -> RunStatus:
        """Resume and return the new status."""
        self._resume()
        return await self._settled()

    @resume.validator
    def _may_resume(self) -> None:
        self._require(RunStatus.PAUSED)

    @workflow.update(name=ABORT, description="End the run early as ABORTED; refused once it is ending")
    async def abort(self, reason: str, is_continued: bool = False, by: str = "") -> RunStatus:
        """Abort and return the status; running steps are still being stopped. `is_continued`: see hand_over."""
        self._abort(reason, is_continued=is_continued, by=by)
        return await self._settled()

    @abort.validator
    def _may_abort(self, reason: str, is_continued: bool = False, by: str = "") -> None:  # noqa: ARG002 - as its update's
        self._require(RunStatus.RUNNING, RunStatus.WAITING, RunStatus.PAUSED, ending=self._driver.state.ending)

    @workflow.signal(name=ANSWER, description="Answer a waiting step; dropped if it does not wait or accept this")
    def signal_answer(self, step_id: str, answer: Json, by: str = "") -> None:
        """Answer as soon as a worker is available. A signal cannot be refused, so an invalid one is dropped."""
        try:
            self._driver.check_answer(step_id, Answer(answer, by))
        except ApplicationError as error:
            workflow.logger.warning("an answer was dropped: %s", error.message)
        else:
            self._driver.answer(step_id, Answer(answer, by))

    @workflow.update(name=ANSWER, description="Answer a waiting step; the first answer that it accepts counts")
    async def answer(self, step_id: str, answer: Json, by: str = "", known_to: str = "") -> RunStatus:
        """Answer and return the run's status. `known_to`: who else knows the key of `by`."""
        self._driver.answer(step_id, Answer(answer, by, known_to))
        return await self._settled()

    @answer.validator
    def _may_answer(self, step_id: str, answer: Json, by: str = "", known_to: str = "") -> None:
        self._driver.check_answer(step_id, Answer(answer, by, known_to))

    @workflow.update(name=RESOLVE, description="Say what becomes of a parked step: retry, skip or output")
    async def resolve(self, step_id: str, kind: str, value: Json = None, by: str = "") -> RunStatus:
        """Resolve the step and return the run's status."""
        self._driver.resolve(step_id, Resolution(ResolutionKind(kind), value, by))
        return await self._settled()

    @resolve.validator
    def _may_resolve(self, step_id: str, kind: str, value: Json = None, by: str = "") -> None:  # noqa: ARG002
        self._driver.check_resolution(step_id, kind, value)

    def _pause(self) -> None:
        self._driver.add(PauseRequested(workflow.time()))

    def _resume(self) -> None:
        self._driver.add(ResumeRequested(workflow.time()))

    def _abort(self, reason: str, *, is_continued: bool = False, by: str = "") -> None:
        self._driver.add(AbortRequested(reason, workflow.time(), is_continued, by))

    def _require(self, *statuses: RunStatus, ending: RunStatus | None = None) -> None:
        """Refuse an update in a wrong state, including one that a pending event leads to, such as a second pause.

        `ending` is how a run that is being compensated will end, if the update is not accepted in that state either.
        """
        state = self._driver.state
        status = state.stopping or ending or self._driver.coming() or state.status
        if status not in statuses:
            raise ApplicationError(f"the run is {status}", status, type=WRONG_STATE, non_retryable=True)

    async def _settled(self) -> RunStatus:
        """Wait until the pending events are processed, and return the run's status."""
        await workflow.wait_condition(self._driver.is_idle)
        return self._driver.state.stopping or self._driver.state.status
