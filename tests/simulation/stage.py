"""The outside of a run under test: activities that end when and as the test says."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from docrail.dag.simulation.cues import CALLBACKS, Cue, CueKind
from docrail.dag.simulation.value_store import Memory
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import part_of
from docrail.workflows.contract.messages import AttemptRequest, LoadCall, Loaded, ReviewCall, StepOutcome, StoreCall
from docrail.workflows.contract.names import LOAD_VALUES, OPEN_REVIEW, STORE_VALUE, child_run_id, run_id_of
from tests.simulation.stand_in import STAND_IN

UNDO = ".compensate"
"""What the identity of a step's undoing ends with (workflows/start_step.py)."""

_CALLBACK = re.compile("callback://[0-9a-f]{32}/")
"""What stands for a callback's URL in a run (workflows/driver_context.py)."""

BEAT_SECONDS = 0.02
"""Between heartbeats of what is to be stopped: they bring the news of it."""

Place = tuple[str, str | None]
"""Whose activity: a step's id and an item's key, or the id of a nested run."""


@dataclass
class Stage:
    """Holds every activity of one run until its cue, and keeps what each was given."""

    run_id: str
    given: dict[str, Json] = field(default_factory=dict)
    undone: list[str] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    _cues: dict[Place, asyncio.Future[Cue]] = field(default_factory=dict)
    _here: dict[Place, asyncio.Event] = field(default_factory=dict)
    _held: dict[Place, str] = field(default_factory=dict)

    def send(self, place: Place, cue: Cue) -> None:
        """Let the activity end as `cue` says, now or as soon as it begins."""
        future = self._cue(place)
        if not future.done():
            future.set_result(cue)

    async def arrival(self, place: Place) -> None:
        """Return when the activity has begun, or the person has been asked."""
        await self._here.setdefault(place, asyncio.Event()).wait()

    def ask(self, step_id: str, question: Json) -> None:
        """Keep what a person is asked."""
        self.given[step_id] = with_test_callbacks(question)
        self._here.setdefault((step_id, None), asyncio.Event()).set()

    def held(self, step_id: str | None = None) -> int:
        """Return how many activities, of a step or all, have begun and not ended."""
        return sum(step_id in (None, holder) for holder in self._held.values())

    async def act(self, place: Place, step_id: str) -> Cue:
        """Wait for the cue of an activity; what is to be stopped stops. Raises: ApplicationError as it says."""
        self._held[place] = step_id
        self._here.setdefault(place, asyncio.Event()).set()
        try:
            cue = await self._cue(place)
            while cue.kind is CueKind.STOP:  # until the server has reported the cancellation
                activity.heartbeat()
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            del self._held[place]
        if cue.error is not None:
            raise ApplicationError(
                cue.error.message,
                {"attempt": cue.attempts},
                type=cue.error.type,
                non_retryable=True,
                category=ApplicationErrorCategory.BENIGN,  # no log: it is what the test wants
            )
        return cue

    def _cue(self, place: Place) -> asyncio.Future[Cue]:
        if place not in self._cues:
            self._cues[place] = asyncio.get_running_loop().create_future()
        return self._cues[place]


def place_of(cue: Cue, run_id: str, *, is_nested: bool) -> Place:
    """Return whose cue it is."""
    if is_nested:
        return child_run_id(run_id, cue.step, cue.item_key), None
    return (cue.step + UNDO if cue.undoes else cue.step), cue.item_key


def with_test_callbacks(value: Json) -> Json:
    """Return `value` with the callback URLs of the simulation in the place of those of this run."""
    return json.loads(_CALLBACK.sub(CALLBACKS, json.dumps(value)))


def stage_of(stages: Mapping[str, Stage], run_id: str) -> Stage:
    """Return the stage of a run, or of the run around it."""
    return stages[run_id.partition("~")[0]]


def stage_activities(stages: dict[str, Stage], handlers: Iterable[str]) -> list[Callable[..., Any]]:
    """Return activities under the names of `handlers` and of all else that a run starts; `stages` by run id."""
    return [*(_handler(name, stages) for name in handlers), _nested(stages), *_values(stages), *_people(stages)]


def _handler(name: str, stages: dict[str, Stage]) -> Callable[[AttemptRequest], Any]:
    @activity.defn(name=name)
    async def stand_in(call: AttemptRequest) -> StepOutcome:
        stage, step_id = stage_of(stages, call.run_id), call.step_id.removesuffix(UNDO)
        undoes = call.step_id != step_id
        if not undoes and call.item_key is None:
            stage.given[step_id] = with_test_callbacks(stage.memory.filled(call.config))
        cue = await stage.act((call.step_id, call.item_key), step_id)
        if undoes:
            stage.undone.append(step_id)
        output = cue.value if size_of(cue.value) <= call.inline_bytes else stage.memory.put(cue.value)
        return StepOutcome(output=output, attempt=cue.attempts)

    return stand_in


def _nested(stages: dict[str, Stage]) -> Callable[[str, dict[str, Json]], Any]:
    @activity.defn(name=STAND_IN)
    async def nested(run_id: str, given: dict[str, Json]) -> dict[str, Json]:
        _, step_id, *item = run_id.split("~", 2)
        stage = stage_of(stages, run_id)
        if not item:
            stage.given[step_id] = with_test_callbacks(given)
        outputs: dict[str, Json] = (await stage.act((run_id, None), step_id)).value
        return outputs

    return nested


def _people(stages: dict[str, Stage]) -> list[Callable[..., Any]]:
    """Return the activities that store questions; notifications do nothing."""

    @activity.defn(name=OPEN_REVIEW)
    async def open_review(call: ReviewCall) -> None:
        stage_of(stages, call.run_id).ask(call.step_id, {"title": call.title, "show": call.show})

    @activity.defn(dynamic=True)
    async def reported(_: Sequence[RawValue]) -> None:
        """Accept reports of escalations, ended questions and dead letters."""

    return [open_review, reported]


def _values(stages: dict[str, Stage]) -> list[Callable[..., Any]]:
    """Return the value store of the run that asks: its own."""

    @activity.defn(name=STORE_VALUE)
    async def store_value(call: StoreCall) -> dict[str, Json]:
        return _asking(stages).memory.put(call.value)

    @activity.defn(name=LOAD_VALUES)
    async def load_values(call: LoadCall) -> Loaded:
        memory, parts = _asking(stages).memory, [part for part in map(part_of, call.parts) if part is not None]
        found = (memory.find(part, may_stay=number in call.may_stay) for number, part in enumerate(parts))
        return Loaded(parts=tuple(found))

    return [store_value, load_values]


def _asking(stages: dict[str, Stage]) -> Stage:
    workflow_id = activity.info().workflow_id
    assert workflow_id is not None, "every activity here is a run's"
    return stage_of(stages, run_id_of(workflow_id))
