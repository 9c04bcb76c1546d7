"""Simulate a test of a definition without a server: the scheduler decides, mocks end the work, time is a number.

Running work ends one piece at a time: by due time, then by start, then in plan order. Mocked results are immediate, so
time advances only to the next timer or timeout. Cancelled work stops immediately.
"""

from collections import deque
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from typing import assert_never

from docrail.dag.engine import events
from docrail.dag.engine.approvals import approvals_of
from docrail.dag.engine.map_chunk import ChunkRun
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.engine.plan import Step, compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import Answer, ItemEnd, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import complete_inputs
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind, WaitFor
from docrail.dag.language.test_cases import Mock, Trial
from docrail.dag.simulation.cues import CALLBACKS, TENANT_ID, Cue, CueKind, Played, document_of, people, run_id_of
from docrail.dag.simulation.mocks import end_of_undoing, end_of_work, patience, question
from docrail.dag.simulation.value_store import Memory
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES

TICK_SECONDS = 0.000001
"""Seconds between two events: shorter than any timer."""

_UNDER_WAY = (StepStatus.RUNNING, StepStatus.WAITING)

_Key = tuple[str, events.Part]


def simulate(definition: Definition, trial: Trial, catalogue: Catalogue) -> Played:
    """Simulate `trial`, a test of `definition`; both are valid. Raises: InvalidValueError for its inputs."""
    simulation = Simulation(definition, trial, catalogue)
    while simulation.turn():
        pass
    return simulation.played()


class Simulation:
    """One simulated test, advanced turn by turn, so that the caller can stop it."""

    def __init__(self, definition: Definition, trial: Trial, catalogue: Catalogue) -> None:
        """Start the run. Raises: InvalidValueError for the test's inputs."""
        self._plan = compile_plan(definition)
        self._trial, self._catalogue = trial, catalogue
        self._run_id = run_id_of(definition)
        self._run = begin(self._plan, complete_inputs(definition, trial.inputs), self._context(definition))
        self._now, self._round, self._counter = 0.0, 0, count()
        self._agenda: list[tuple[float, int, int, int, int, _Key, Cue]] = []
        self._under_way: dict[_Key, int] = {}
        self._cues: list[Cue] = []
        self._given: dict[str, Json] = {}
        self._undone: list[str] = []
        self._unsaid: dict[str, str] = {}
        self._chunks: dict[_Key, tuple[events.StartChunk, list[Cue]]] = {}
        self._memory = Memory()
        self._moved: deque[events.Event] = deque()
        self._time_stands = False
        self._tell(events.RunStarted(self._now))

    def turn(self) -> bool:
        """Process the next external event; return False if there is none left."""
        while self._agenda:
            at, *_, number, key, cue = heappop(self._agenda)
            if self._under_way.get(key) != number:
                continue  # it was cancelled meanwhile
            if at > self._now and self._time_stands:
                return False
            del self._under_way[key]
            self._now = max(self._now, at)
            if cue.kind is CueKind.STOP and not self._is_open(key):
                continue  # a question that was already answered
            is_stopped = cue.kind is CueKind.STOP and key in self._chunks
            event = self._end_chunk(key, is_stopped=True) if is_stopped else self._event_of(cue, key)
            self._cues.append(Cue(CueKind.CHUNK, key[0]) if is_stopped else cue)
            self._tell(event)
            return True
        return False

    def _tick(self) -> float:
        """Return the time of the next event: each has its own, as in a real run."""
        self._round += 1
        self._now += TICK_SECONDS
        return self._now

    def played(self) -> Played:
        """Return the result so far."""
        report = report_of(self._plan, self._run, run_id=self._run_id, tenant_id=TENANT_ID, version=1, digest="")
        return Played(report, self._given, tuple(self._undone), tuple(self._cues), self._unsaid, self._memory)

    def _context(self, definition: Definition) -> dict[str, Json]:
        """Return the run's context; its callback URLs lead nowhere."""
        waits = [step.id for step in definition.steps if step.wait and step.wait.for_ is WaitFor.WEBHOOK]
        callbacks = {step_id: f"{CALLBACKS}{step_id}" for step_id in waits}
        run = {"id": self._run_id, "tenant_id": TENANT_ID, "callbacks": callbacks}
        workflow = {"id": self._run_id, "definition": definition.id, "version": 1}
        return {"run": run, "workflow": workflow, "document": document_of(self._trial)}

    def _tell(self, event: events.Event) -> None:
        """Give the run an event, and the stored or loaded values that it requests."""
        self._moved.append(event)
        while self._moved:
            for command in advance(self._plan, self._run, self._moved.popleft()):
                self._obey(command)

    def _obey(self, command: events.Command) -> None:
        match command:
            case events.Start(step_id, config, part):
                self._start(self._plan.step(step_id), self._memory.filled(config), part)
            case events.StartChunk():
                self._start_chunk(command)
            case events.Cancel(step_id, part):
                if (step_id, part) in self._under_way:
                    stop = Cue(CueKind.STOP, step_id, self._item_key(self._plan.step(step_id), part))
                    self._put((step_id, part), stop, at_once=True)
            case events.Store(step_id, value):
                self._moved.append(events.Stored(step_id, self._memory.put(value), self._tick()))
            case events.Load(reader, parts, may_stay):
                found = (self._memory.find(part, may_stay=number in may_stay) for number, part in enumerate(parts))
                self._moved.append(events.Loaded(reader, tuple(found), self._tick()))
            case events.GoOn():
                self._moved.append(events.WentOn(self._tick()))
            case events.Record() | events.RecordDecision() | events.RecordOverdue() | events.Finish():
                pass  # notifications only, or part of the state
            case _:
                assert_never(command)

    def _start(self, step: Step, config: Json, part: events.Part) -> None:
        if isinstance(part, events.Undo):
            undoing = end_of_undoing(self._trial, step, config, self._catalogue)
            if undoing.kind is CueKind.COMPLETE:
                self._undone.append(step.id)
            self._put((step.id, part), undoing)
            return
        if part == events.WHOLE_STEP and step.kind is not StepKind.WAIT:
            self._given[step.id] = config if step.kind is not StepKind.HUMAN else question(step, config)
        match step.kind:
            case StepKind.HANDLER | StepKind.WORKFLOW:
                cue = self._work(step, config, self._item_key(step, part))
                if cue is not None:
                    self._put((step.id, part), cue)
            case _:
                self._wait(step, config)

    def _work(self, step: Step, config: Json, item_key: str | None) -> Cue | None:
        cue = end_of_work(self._trial, step, config, item_key, self._catalogue)
        if cue is None:
            whose = f"its item {item_key!r}" if item_key is not None else "it"
            self._lacks(step, f"result for {whose}: add an `output` or a `failure`")
        return cue

    def _start_chunk(self, chunk: events.StartChunk) -> None:
        """Begin a chunk of a long list, if the test defines how all of its items end."""
        step = self._plan.step(chunk.step)
        cues = [self._work(step, self._memory.filled(item.config), item.key) for item in chunk.items]
        ends = [replace(cue, in_chunk=True) for cue in cues if cue is not None]
        if len(ends) == len(cues):
            key = (chunk.step, chunk.chunk)
            self._chunks[key] = (chunk, ends)
            self._put(key, Cue(CueKind.CHUNK, chunk.step))

    def _end_chunk(self, key: _Key, *, is_stopped: bool) -> events.Event:
        """Run a chunk to its end, as its workflow would (workflows/map_chunk.py)."""
        chunk, cues = self._chunks.pop(key)
        run, running = ChunkRun(len(cues), chunk.width, chunk.stop_after), deque[int]()
        stopped: list[int] = []
        while not run.is_over:
            running.extend(run.begin())
            stopped += run.stop() if is_stopped and not stopped else []
            number = running.popleft()
            cue = cues[number] if number not in stopped else replace(cues[number], kind=CueKind.STOP, value=None)
            self._cues.append(cue)
            stopped += run.end(number, self._end_of_item(cue))
        return events.ChunkEnded(chunk.step, chunk.chunk, tuple(run.ends), self._tick())

    def _end_of_item(self, cue: Cue) -> ItemEnd:
        match cue.kind:
            case CueKind.COMPLETE:
                return ItemEnd(StepStatus.COMPLETED, self._carried(cue), attempts=cue.attempts)
            case CueKind.FAIL:
                return ItemEnd(StepStatus.FAILED, error=cue.error, attempts=cue.attempts)
            case _:
                return ItemEnd(StepStatus.CANCELLED, attempts=1)

    def _wait(self, step: Step, config: dict[str, Json]) -> None:
        mock, key = self._trial.steps.get(step.id) or Mock(), (step.id, events.WHOLE_STEP)
        if step.is_timer or mock.times_out:
            seconds = patience(step, config)
            asking = TICK_SECONDS / 2 if step.kind is StepKind.HUMAN else 0.0  # its time starts once it is in a queue
            self._put(key, Cue(CueKind.TIME_OUT, step.id, due=self._now + seconds), after=seconds + asking)
        elif "answer" in mock.model_fields_set:
            self._put(key, Cue(CueKind.ANSWER, step.id, value=mock.answer))
        elif self._trial.expect.status == "waiting":
            self._time_stands = True  # so that unanswered steps do not time out
        else:
            self._lacks(step, "answer for it: add an `answer`, or `times_out: true`,")

    def _lacks(self, step: Step, what: str) -> None:
        """Record what the test must define; nothing is guessed, and the step does not continue."""
        self._unsaid[step.id] = f"step '{step.id}' runs, and the test has no {what} under `steps.{step.id}`"
        self._time_stands = True

    def _put(self, key: _Key, cue: Cue, *, after: float = 0.0, at_once: bool = False) -> None:
        """Schedule `cue` in `after` seconds, replacing any earlier end of the same work."""
        number, order = next(self._counter), -1 if at_once else self._round
        self._under_way[key] = number
        place = self._plan.index[key[0]], _order_of(key[1])
        heappush(self._agenda, (self._now + after, order, *place, number, key, cue))

    def _event_of(self, cue: Cue, key: _Key) -> events.Event:
        (step, part), at = key, self._tick()
        match cue.kind:
            case CueKind.COMPLETE:
                return events.StepCompleted(step, self._carried(cue), cue.attempts, at, part)
            case CueKind.FAIL:
                return events.StepFailed(step, cue.error or StepError("", ""), cue.attempts, at, part)
            case CueKind.ANSWER:
                return self._answered(step, cue.value, at)
            case CueKind.TIME_OUT:
                return events.TimedOut(step, at)
            case CueKind.STOP:
                return events.StepCancelled(step, at, part)
            case CueKind.CHUNK:
                return self._end_chunk(key, is_stopped=False)

    def _answered(self, step_id: str, value: Json, at: float) -> events.Event:
        """Return the answer of a step; if several people must agree, the others answer alike first."""
        *others, last = people(approvals_of(self._plan.step(step_id).definition.human))
        for by in others:
            self._tell(events.Answered(step_id, Answer(value, by), at))
            at = self._tick()
        return events.Answered(step_id, Answer(value, last), at)

    def _carried(self, cue: Cue) -> Json:
        """Return an output as the run carries it: a placeholder if it is too large."""
        fan = self._run.steps[self._plan.index[cue.step]].fan
        most = MAX_INLINE_BYTES if fan is None or cue.undoes else inline_bytes(len(fan.items))
        return cue.value if size_of(cue.value) <= most else self._memory.put(cue.value)

    def _is_open(self, key: _Key) -> bool:
        return key[1] != events.WHOLE_STEP or self._run.steps[self._plan.index[key[0]]].status in _UNDER_WAY

    def _item_key(self, step: Step, part: events.Part) -> str | None:
        fan = self._run.steps[step.index].fan
        return fan.items[part.place].key if isinstance(part, events.Item) and fan is not None else None


def _order_of(part: events.Part) -> int:
    """Return the sort order of parts of one step that end at the same time."""
    match part:
        case events.Undo():
            return -1
        case events.WholeStep():
            return 0
        case events.Item(place) | events.Chunk(place):
            return place
        case _:
            assert_never(part)
