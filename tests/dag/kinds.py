"""Short ways to write steps of every kind, and to say what becomes of them."""

from docrail.dag.engine.events import WHOLE_STEP, Answered, Event, Item, Part, Start, StepCompleted, StepFailed
from docrail.dag.engine.state import Answer, StepError, StepState
from docrail.dag.language.definition import Step
from docrail.dag.values.json_values import Json
from tests.dag.definitions import definition, step
from tests.dag.watch import name_of
from tests.dag.world import World

BROKEN = StepError("Broken", "it broke")


def wait(step_id: str, *depends_on: str, on_timeout: Json = "fail", **fields: Json) -> Step:
    return step(step_id, *depends_on, wait={"for": "signal", "timeout_seconds": 60, "on_timeout": on_timeout}, **fields)


def timer(step_id: str, *depends_on: str, seconds: Json) -> Step:
    return step(step_id, *depends_on, wait={"for": "timer", "seconds": seconds})


def mapped(step_id: str, items: Json, *depends_on: str, config: Json = None, **fields: Json) -> Step:
    """Return a step over a list; what `for_each` does not know is the step's own."""
    own = {name: fields.pop(name) for name in ("optional", "workflow") if name in fields}
    return step(step_id, *depends_on, for_each={"items": items} | fields, config=config or {}, **own)


def begun(*steps: Step, on_failure: str = "continue", inputs: Json = None, **limits: Json) -> World:
    world = World(definition(*steps, on_failure=on_failure, **limits), inputs=inputs or {})
    world.start()
    return world


def reported(world: World) -> list[str]:
    """Return what the last event started, by name."""
    commands = world.trace[-1][1]
    return [name_of(each.step, each.part) for each in commands if isinstance(each, Start)]


def started(world: World, event: Event) -> list[str]:
    world.send(event)
    return reported(world)


def part_at(item: int | None) -> Part:
    """Return the item at that place; None: the step itself."""
    return WHOLE_STEP if item is None else Item(item)


def done(step_id: str, output: Json = None, *, item: int | None = None) -> StepCompleted:
    return StepCompleted(step_id, output, 1, 9.0, part_at(item))


def broke(step_id: str, *, item: int | None = None) -> StepFailed:
    return StepFailed(step_id, BROKEN, 1, 9.0, part_at(item))


def answer(step_id: str, value: Json, by: str = "ann") -> Answered:
    return Answered(step_id, Answer(value, by), 9.0)


def statuses(world: World) -> dict[str, str]:
    return {name: str(state.status) for name, state in world.states.items()}


def error_of(state: StepState) -> StepError:
    assert state.error is not None
    return state.error
