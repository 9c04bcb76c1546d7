"""Handler `fail`: fail the first attempts with a chosen error. For tests of retries and failure branches."""

from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall, Tools

ErrorName = Literal["ConnectionError", "KeyError", "OSError", "RuntimeError", "TimeoutError", "TypeError", "ValueError"]
ERRORS = MappingProxyType(
    {
        error.__name__: error
        for error in (ConnectionError, KeyError, OSError, RuntimeError, TimeoutError, TypeError, ValueError)
    }
)


class Config(BaseModel, extra="forbid", frozen=True):
    """How often to fail, and with which error."""

    times: int = Field(ge=0, description="number of attempts that fail before one succeeds")
    error: ErrorName = Field(
        default="RuntimeError",
        description="the error's class; ValueError, TypeError and KeyError are never retried, others are",
    )
    message: str = Field(default="failed as configured", description="the error's text")
    key: str | None = Field(default=None, description="with KeyError: the key that is missing")


class Output(BaseModel):
    """The number of attempts."""

    attempts: int = Field(description="number of attempts made")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return after the configured number of failed attempts. Raises: the configured error."""
    if call.attempt <= call.config.times:
        text = call.config.key if call.config.error == "KeyError" and call.config.key else call.config.message
        raise ERRORS[call.config.error](text)
    return Output(attempts=call.attempt)


HANDLER = Handler("fail", Config, Output, run, is_light=True)
