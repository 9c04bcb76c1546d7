"""The author's document: what a definition may say, as pydantic models. Meaning is given by `plan.py`."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dag.values import Json

ID_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
"""An id is a name in expressions, so it has a name's shape."""

RESERVED_WORDS = frozenset(
    {"inputs", "document", "workflow", "run", "item", "index", "previous", "steps", "true", "false", "none", "null"}
    | {"self"}  # Jinja's own
    | {"and", "or", "not", "in", "is", "if", "else", "True", "False", "None"}
)
"""Names that mean something else in an expression, so no step may carry one."""

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=64)]
Seconds = Annotated[float, Field(gt=0, le=31_536_000, allow_inf_nan=False)]


class TriggerRule(StrEnum):
    """When a step runs, judged once over its settled parents (the truth table of the language reference)."""

    NONE_FAILED = "none_failed"
    ALL_SUCCESS = "all_success"
    ALL_DONE = "all_done"
    ONE_SUCCESS = "one_success"
    ONE_FAILED = "one_failed"
    ALL_FAILED = "all_failed"


class Dispatch(StrEnum):
    """`ready`: a step starts as soon as its own parents are settled; `layers`: after the whole layer before it."""

    READY = "ready"
    LAYERS = "layers"


class OnFailure(StrEnum):
    """`continue`: independent branches go on; `fail_fast`: the first failure cancels what runs."""

    CONTINUE = "continue"
    FAIL_FAST = "fail_fast"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RetryConfig(_Model):
    """Delay before retry n (from 0): `initial_delay * exponential_base**n + U(0, jitter * initial_delay)` seconds."""

    initial_delay: Seconds = 10.0
    exponential_base: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_delay: Seconds | None = None
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.5
    non_retryable: tuple[str, ...] = ()


class Step(_Model):
    """One step: a handler run with `config` when `depends_on`, `trigger_rule` and `condition` say so."""

    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    handler: str
    depends_on: tuple[str, ...] = ()
    condition: str | None = None
    trigger_rule: TriggerRule = TriggerRule.NONE_FAILED
    optional: bool = False
    config: dict[str, Json] = Field(default_factory=dict)
    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    retry_config: RetryConfig = RetryConfig()
    timeout_seconds: Seconds = 300.0
    total_timeout_seconds: Seconds | None = None
    heartbeat_seconds: Seconds = 10.0


class Limits(_Model):
    """How much of a run may be in flight at once, and in what order steps start."""

    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 4
    dispatch: Dispatch = Dispatch.READY


class Input(_Model):
    """One input of a definition: a JSON Schema, and whether a caller must give it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "object", "array"]
    required: bool = False
    default: Json = None

    def schema_document(self) -> dict[str, Json]:
        """Return the JSON Schema of the input's value."""
        return {"type": self.type, **(self.model_extra or {})}


class Definition(_Model):
    """A whole definition, every default resolved: what is stored, digested, pinned by a run and compiled."""

    dsl: Literal[1] = 1
    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    inputs: dict[Id, Input] = Field(default_factory=dict)
    limits: Limits = Limits()
    on_failure: OnFailure = OnFailure.CONTINUE
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    outputs: dict[str, Json] = Field(default_factory=dict)


STEP_ALIASES = {"node_id": "id", "dependencies": "depends_on", "params": "config"}
"""The seeds' words for a step's fields, accepted and normalised."""

DEFAULTABLE = ("max_retries", "retry_config", "timeout_seconds", "total_timeout_seconds", "heartbeat_seconds")
"""The step fields that `defaults` may set for every step."""


def is_id(text: str) -> bool:
    """Tell whether `text` has the shape of an id."""
    return re.match(ID_PATTERN, text) is not None
