"""Handlers of the documents of bench/batch.py: each answers with 200 bytes, in a group or alone."""

from pydantic import BaseModel

from bench.handwritten import ANSWER
from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """No options."""


class Output(BaseModel):
    """200 bytes as JSON."""

    text: str


async def run(_call: StepCall[Config], _tools: Tools) -> Output:
    """Answer immediately."""
    return Output(text=ANSWER)


LIGHT = Handler("answer", Config, Output, run, is_light=True)

HEAVY = Handler("heavy", Config, Output, run)
