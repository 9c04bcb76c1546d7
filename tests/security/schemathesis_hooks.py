"""What schemathesis checks in addition to its own checks."""

import re
import time
from http import HTTPStatus
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, Response
from schemathesis.specs.openapi.checks import positive_data_acceptance

from docrail.api.errors import KINDS, MEDIA_TYPE, OF_SERVER

CONTENT = {
    "/problems/invalid-definition",
    "/problems/invalid-routing",
    "/problems/failed-tests",
    "/problems/too-costly",
}
"""Refusals of a text in a language of its own, for which the schema has only `string` and `object`."""

BEYOND_SCHEMAS = (
    r"differs from the header Idempotency-Key",  # two places of one request
    r"^after: ",  # an opaque text that an earlier answer had
    r"^token: is not the token of one of your previews",  # likewise
    r"^undo: nothing is left to undo",  # what is stored decides
    r"^expires_at: must be in the future",  # the time decides
    r"is given \d+ times",  # parts of a form with one name, which no schema can forbid
    r"^(period\.)?until: must (be later than|not be earlier than) `since`",  # two places of one request
    r"^percent: only 'canary' takes a share",  # two places of one request
    r"^(value|text): ",  # the field in the path decides
    r"is no URL\b",  # RFC 3986 is more than a pattern should say
    r"there is no time zone",  # the system's list of them decides
    r"^(query\.)?vendor: has no letter and no digit",  # of any script: JSON Schema advises against classes of Unicode
    r"^(answer|decision)\b",  # the form of the step decides
    r"^(steps\..*\.)?output[.:]",  # what is stored decides
    r"only a step over a list has items",  # what is stored decides
    r"^review_id: is a",  # of a document or of a step: what is stored decides
    r"is also in .*: give it once",  # two places of one request
    r"the definition has no such (step|input)",  # what is stored decides
    r"inputs\.\w+: is required",  # what is stored decides
    r"inputs\.",  # what is stored decides
    r"^(steps\..*\.)?config[.:]",  # the handler of the step decides
    r"until: expected a time .* after now",  # the time decides
    r"is a whole number that does not fit 64 bits",  # anywhere inside a value of any shape
    r"^close: would close a batch without documents",  # two places of one request
    r"^key_id: \w+ is a quota of tenants",  # two places of one request: the quota is in the path
)
TYPES = {f"/problems/{kind.name}" for kind in (*KINDS.values(), *OF_SERVER)}
MOST_RETRIES = 10


@schemathesis.check
def refusals_are_described(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if a request that fits the schema is refused for a reason that the schema could say."""
    if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        refused = response.json()
        if refused["type"] in CONTENT or any(re.search(reason, refused["detail"]) for reason in BEYOND_SCHEMAS):
            return
    positive_data_acceptance(ctx, response, case)


@schemathesis.check
def problems_have_a_documented_type(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if an error is not a problem of a type that the reference lists."""
    if response.status_code < HTTPStatus.BAD_REQUEST or case.path == "/readyz":
        return
    assert response.headers["content-type"] == [MEDIA_TYPE], f"expected {MEDIA_TYPE}"
    assert response.json()["type"] in TYPES, "the type of the problem is not documented"


@schemathesis.check
def no_server_error(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if the server fails. One that has too much to do says when to come back, and must then answer."""
    for _ in range(MOST_RETRIES):
        if response.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
            break
        # Retry-After: a busy server says when it answers again, and this caller waits as long as it asks.
        time.sleep(int(response.headers.get("retry-after", ["1"])[0]))
        response = case.call()
    assert response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, f"failed: {response.text[:1000]}"
