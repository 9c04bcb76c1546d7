"""Handler `noop`: do nothing. For tests, benchmarks and joins."""

from pydantic import BaseModel

from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """No options."""


class Output(BaseModel):
    """No output."""


async def run(_call: StepCall[Config], _tools: Tools) -> Output:
    """Return immediately."""
    return Output()


HANDLER = Handler("noop", Config, Output, run, is_light=True)
