"""Handler `echo`: return a value, to try out a definition without side effects."""

from pydantic import BaseModel, Field

from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The value to return."""

    value: Json = Field(default=None, description="any JSON value")


class Output(BaseModel):
    """The value."""

    value: Json = Field(description="the unchanged value")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the value."""
    return Output(value=call.config.value)


HANDLER = Handler("echo", Config, Output, run, is_light=True)
