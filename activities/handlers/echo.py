"""Handler `echo`: give back a value, so that a definition can be tried without effects."""

from pydantic import BaseModel, Field

from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """What to give back."""

    value: Json = Field(default=None, description="anything")


class Output(BaseModel):
    """What was given."""

    value: Json = Field(description="the value as it was given")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the value."""
    return Output(value=call.config.value)


HANDLER = Handler("echo", Config, Output, run)
