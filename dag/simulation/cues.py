"""What happens outside the run of a test, in what order, and what became of the run: the same wherever it is played."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from docrail.dag.engine.state import StepError
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition
from docrail.dag.language.test_cases import Trial
from docrail.dag.simulation.value_store import Memory
from docrail.dag.values.json_values import Json

TENANT_ID, DOCUMENT_ID = "default", "doc_test"
CALLBACKS = "https://callbacks.invalid/"
"""What a callback's URL begins with in a test; the step's id follows. It leads nowhere (RFC 2606)."""
ANSWERED_BY = "test"
"""Who answers what a test answers, and what the names of several begin with. Nobody who started a run has one."""


class CueKind(StrEnum):
    """What happens outside a run."""

    COMPLETE = "complete"
    FAIL = "fail"
    ANSWER = "answer"
    TIME_OUT = "time_out"
    STOP = "stop"
    CHUNK = "chunk"
    """All items of a chunk of a long list have ended, each by a cue of its own before."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that happened outside the run: in their order, all that a worker needs to play the same run.

    `undoes`: it ends what undoes the step. `value`: an output or an answer. `in_chunk`: its item runs in a chunk.
    `due`: when time is up, in seconds since the run's start.
    """

    kind: CueKind
    step: str
    item_key: str | None = None
    undoes: bool = False
    in_chunk: bool = False
    value: Json = None
    error: StepError | None = None
    attempts: int = 1
    due: float = 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """A run that was played to its end, or to where it only waits. `given`: what each step was given, by id."""

    report: RunReport
    given: Mapping[str, Json]
    undone: tuple[str, ...]
    cues: tuple[Cue, ...] = ()
    unsaid: Mapping[str, str] | None = None
    """By step id, what the test would have to say of steps that ran."""
    memory: Memory = field(default_factory=Memory)
    """What the run keeps outside itself."""


def run_id_of(definition: Definition) -> str:
    """Return the run id under which a definition's tests run."""
    return f"{definition.id}.test"


def people(count: int) -> list[str]:
    """Return the names of as many people as must agree on what a test answers."""
    return [ANSWERED_BY, *(f"{ANSWERED_BY} {number}" for number in range(2, count + 1))]


def document_of(trial: Trial) -> dict[str, Json] | None:
    """Return what expressions read as `document`."""
    return None if trial.document is None else {"document_id": DOCUMENT_ID, **trial.document}
