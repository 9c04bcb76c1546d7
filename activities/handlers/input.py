"""Handler `input`: provide a run's inputs, or any other values, to later steps, as the start of a graph."""

from pydantic import Field, RootModel

from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall, Tools


class Config(RootModel[dict[str, Json]], frozen=True):
    """Any fields: `{customer: "{{ inputs.customer }}"}`. Without any, all inputs that the definition declares."""

    root: dict[str, Json] = Field(description="the output, by name; default: all declared inputs")


class Output(RootModel[dict[str, Json]]):
    """The config's fields, by name."""

    root: dict[str, Json] = Field(description="the fields of the config")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the config."""
    return Output(call.config.root)


HANDLER = Handler("input", Config, Output, run, is_light=True)
