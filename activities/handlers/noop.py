"""Handler `noop`: do nothing. For tests, benches and joins."""

from pydantic import BaseModel

from activities.registry import Call, Handler
from activities.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """Nothing to say."""


class Output(BaseModel):
    """Nothing to tell."""


async def run(_call: Call[Config], _tools: Tools) -> Output:
    """Return at once."""
    return Output()


HANDLER = Handler("noop", Config, Output, run)
