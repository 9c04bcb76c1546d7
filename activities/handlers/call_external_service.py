"""Handler `call_external_service`: call an HTTP service and return its answer."""

import json
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, Field

from docrail.adapters.http.client import MAX_BODY_BYTES, Answer, Outgoing, checked_url, read_json
from docrail.adapters.http.exchange import Sender
from docrail.adapters.secrets import refuse_references
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools

PASSED_HEADERS = ("content-type", "date", "etag", "last-modified", "link", "location", "retry-after", "x-request-id")
"""Headers of the answer that the output contains; the others would only fill histories."""

Status = Annotated[int, Field(ge=100, le=599)]
Value = str | int | float | bool


def _url(text: str) -> str:
    checked_url(text)
    return text


class Config(BaseModel, extra="forbid", frozen=True):
    """The request, and the answers that count as a success."""

    url: Annotated[str, AfterValidator(_url)] = Field(max_length=8192, description="http:// or https://")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] | None = Field(
        default=None, description="default: POST with a body, GET without one"
    )
    query: Annotated[dict[str, Value | list[Value]], AfterValidator(refuse_references)] = Field(
        default_factory=dict, description="parameters added to the URL; a list repeats the parameter"
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="additional headers; `secret://name` is replaced by the secret"
    )
    body: Annotated[Json, AfterValidator(refuse_references)] = Field(
        default=None,
        validation_alias=AliasChoices("body", "json", "payload"),
        description="JSON to send; null: no body; `json` and `payload` are aliases",
    )
    expected_statuses: list[Status] = Field(
        default_factory=list, description="statuses that count as a success; default: 2xx"
    )
    timeout_seconds: float = Field(
        default=60.0, gt=0, le=600, allow_inf_nan=False, description="timeout of the whole exchange"
    )
    max_bytes: int = Field(
        default=MAX_BODY_BYTES, gt=0, le=MAX_BODY_BYTES, description="largest accepted answer, in bytes"
    )


class Output(BaseModel):
    """The answer."""

    status: int = Field(description="the HTTP status")
    headers: dict[str, str] = Field(description=f"the answer's headers among {', '.join(PASSED_HEADERS)}")
    result: Json = Field(description="the body, parsed if its content type is JSON, otherwise as text; null if empty")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Return the service's answer. All attempts have the same `Idempotency-Key`, unless the step sets its own.

    Raises: MissingSecretError, RefusedSecretError, RequestRefusedError, AnswerUnusableError (never retried);
    TryAgainLaterError, UnreachableError, OutgoingTimeoutError (retried); RefusedAddressError (left to another worker).
    """
    config = call.config
    url = checked_url(config.url)
    if config.query:
        url = url.copy_merge_params(config.query)
    body = None if config.body is None else json.dumps(config.body, ensure_ascii=False, allow_nan=False).encode()
    outgoing = Outgoing(
        method=config.method or ("GET" if body is None else "POST"),
        url=str(url),
        headers=config.headers,
        body=body,
        timeout_seconds=config.timeout_seconds,
        max_bytes=config.max_bytes,
    )
    defaults = {"Accept": "application/json, */*;q=0.5", "Idempotency-Key": call.identity[:32]}
    if body is not None:
        defaults["Content-Type"] = "application/json"
    sender = Sender(tools.outside.http, tools.outside.secrets, call.tenant_id, call.secrets)
    return _output(await sender.exchange(outgoing, defaults, expected_statuses=config.expected_statuses))


def _output(answer: Answer) -> Output:
    headers = {name: answer.headers[name] for name in PASSED_HEADERS if name in answer.headers}
    result: Json = answer.text() or None
    if result is not None and answer.is_json:
        result = read_json(result, answer.request)
    return Output(status=answer.status, headers=headers, result=result)


HANDLER = Handler("call_external_service", Config, Output, run, aliases=("external_service",))
