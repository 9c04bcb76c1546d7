"""What crosses between the interpreter and a handler: one call in, one outcome back."""

from pydantic import BaseModel, ConfigDict

from dag.values import Json


class StepCall(BaseModel):
    """One attempt's argument. `(run_id, step_id)` is the identity under which a handler is idempotent."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    step_id: str
    config: dict[str, Json]
    jitter_seconds: float
    """Most that is added, at random, to the delay before a retry."""


class StepOutcome(BaseModel):
    """What a successful attempt reports: the handler's output, and which attempt (from 1) made it."""

    model_config = ConfigDict(frozen=True)

    output: Json
    attempt: int
