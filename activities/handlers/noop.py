"""Handler `noop`: do nothing. For tests, benches and joins."""

from pydantic import BaseModel

from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """Nothing to say."""


class Output(BaseModel):
    """Nothing to tell."""


async def run(_call: StepCall[Config], _tools: Tools) -> Output:
    """Return at once."""
    return Output()


HANDLER = Handler("noop", Config, Output, run)
