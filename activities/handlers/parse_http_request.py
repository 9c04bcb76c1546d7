"""Handler `parse_http_request`: extract fields from the body of an incoming request."""

from pydantic import AliasChoices, BaseModel, Field, RootModel

from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """A body, and the fields to extract."""

    body: dict[str, Json] = Field(
        validation_alias=AliasChoices("body", "request"),
        description="the request's body, as a `wait` step for a webhook outputs it; `request` is an alias",
    )
    take_params: list[str] = Field(min_length=1, description="the fields to extract; all are required")


class Output(RootModel[dict[str, Json]]):
    """The extracted fields, by name."""

    root: dict[str, Json] = Field(description="the fields of `take_params`")


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the fields. Raises: ValueError if one is missing (never retried)."""
    body = call.config.body
    missing = [name for name in call.config.take_params if name not in body]
    if missing:
        raise ValueError(f"the request has no {', '.join(missing)}; it has {', '.join(sorted(body)) or 'no fields'}")
    return Output({name: body[name] for name in call.config.take_params})


HANDLER = Handler("parse_http_request", Config, Output, run, aliases=("ParseHTTPRequest",))
