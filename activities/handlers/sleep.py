"""Handler `sleep`: occupy a worker's slot, as slow work does. For tests and benchmarks; a `wait` step needs no slot."""

import asyncio

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The duration."""

    seconds: float = Field(ge=0, le=3600, allow_inf_nan=False, description="how long to sleep")


class Output(BaseModel):
    """The duration of the sleep."""

    seconds: float = Field(description="the configured duration")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return after `seconds`. An attempt that is repeated sleeps again."""
    await asyncio.sleep(call.config.seconds)
    return Output(seconds=call.config.seconds)


HANDLER = Handler("sleep", Config, Output, run)
