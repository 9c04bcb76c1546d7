"""Handler `output`: collect a run's results from earlier steps, as the end of a graph."""

from pydantic import Field, RootModel

from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall, Tools


class Config(RootModel[dict[str, Json]], frozen=True):
    """Any fields: `{total: "{{ extract.total }}"}`."""

    root: dict[str, Json] = Field(description="the output, by name; default: the outputs of the step's parents, by id")


class Output(RootModel[dict[str, Json]]):
    """The config's fields, by name."""

    root: dict[str, Json] = Field(description="the fields of the config")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the config."""
    return Output(call.config.root)


HANDLER = Handler("output", Config, Output, run, is_light=True)
