"""Define the external events of a test run, in order, and its result: the same wherever the test runs."""

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
"""Prefix of a callback URL in a test; the step's id follows. It leads nowhere (RFC 2606)."""
ANSWERED_BY = "test"
"""The principal of a test's answers, and the prefix if there are several. No run is started by this name."""


class CueKind(StrEnum):
    """The kinds of external events."""

    COMPLETE = "complete"
    FAIL = "fail"
    ANSWER = "answer"
    TIME_OUT = "time_out"
    STOP = "stop"
    CHUNK = "chunk"
    """All items of a chunk of a long list have ended, each with an earlier cue of its own."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One external event. All cues, in order, are what a worker needs to replay the run.

    `undoes`: it ends the step's compensation. `value`: an output or an answer. `in_chunk`: its item runs in a chunk.
    `due`: when a timer or timeout fires, in seconds since the run's start.
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
    """A run that was simulated until it ended or only waits. `given`: the config of each step, by id."""

    report: RunReport
    given: Mapping[str, Json]
    undone: tuple[str, ...]
    cues: tuple[Cue, ...] = ()
    unsaid: Mapping[str, str] | None = None
    """What the test must define for steps that ran, by step id."""
    memory: Memory = field(default_factory=Memory)
    """The run's value store."""


def run_id_of(definition: Definition) -> str:
    """Return the run id under which a definition's tests run."""
    return f"{definition.id}.test"


def people(count: int) -> list[str]:
    """Return the names of the people who must agree on a test's answer."""
    return [ANSWERED_BY, *(f"{ANSWERED_BY} {number}" for number in range(2, count + 1))]


def document_of(trial: Trial) -> dict[str, Json] | None:
    """Return the value of `document` in expressions."""
    return None if trial.document is None else {"document_id": DOCUMENT_ID, **trial.document}
