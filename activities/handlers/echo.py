"""Handler `echo`: give back a value, so that a definition can be tried without effects."""

from pydantic import BaseModel

from activities.registry import Call, Handler
from activities.tools import Tools
from dag.values import Json


class Config(BaseModel, extra="forbid", frozen=True):
    """`value` may be any JSON."""

    value: Json = None


class Output(BaseModel):
    """The value as it was given."""

    value: Json


async def run(call: Call[Config], _tools: Tools) -> Output:
    """Return the value."""
    return Output(value=call.config.value)


HANDLER = Handler("echo", Config, Output, run)
