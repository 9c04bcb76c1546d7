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
    "/problems/ambiguous-value",
    "/problems/failed-tests",
    "/problems/invalid-definition",
    "/problems/invalid-routing",
    "/problems/nothing-readable",
    "/problems/too-costly",
    "/problems/unsafe-archive",
}
"""Refusals of a text or a file in a language of its own, for which the schema has only `string` and `object`."""

BEYOND_SCHEMAS = (
    # two places of one request
    r"key: differs from the header Idempotency-Key",
    r"\w+: is given \d+ times, expected one part of the form of that name",
    r"until: must be later than `since`, or no document can match",
    r"period\.until: must not be earlier than `since`",
    r"percent: only 'canary' takes a share of new runs",
    r"version: is also in '.*': give it once",
    r"close: would close a batch without documents",
    r"key_id: \w+ is a quota of tenants: expected none",  # the quota is in the path
    r"value: expected a priority from 1",  # likewise
    r"after: a single step has no further pages",
    r"value: expected ",  # the field of a document is in the path
    r"text: expected ",  # likewise
    r"cron: expected exactly one of 'cron' and 'every_seconds'",
    r"definition: is required, as the trigger watches no folder",
    r"batch: needs a folder or a mailbox, whose files become a batch",
    # an opaque text that an earlier answer had
    r"after: is not the `after` of an earlier page of this list",
    r"token: is not the token of one of your previews",
    # what is stored decides
    r"undo: nothing is left to undo",
    r"(answer|decision)(\.[^:]+)?: ",  # the form of the step
    r"(steps\..+\.)?(output|config)(\.|\[|: )",  # the handler of the step
    r"(steps\..+\.)?items: only a step over a list has items",
    r"(from_)?steps\..*: the definition has no such step",
    r"inputs\..*: (is required|the definition '.*' has no such input)",
    r"review_id: is a (document|human step)'s item",
    r"name: the tenant has \d+ triggers: delete one first",
    # the time decides
    r"expires_at: must be in the future",
    r"until: expected a time with its zone, after now and within 366 days",
    # a language of its own
    r"inputs: (is not JSON|must be a JSON object)",  # a part of a form: the schema has its media type
    r"(body|to\.webhook\.url): is not valid: '.*' is not a URL( that can be called)?: ",  # RFC 3986, and IDNA
    r"cron: is not a calendar: ",
    r"name: is that of a schedule of Docrail's own work: take another",
    r"folder: leads out of the tenant's folder",
    r"mailbox: expected at most one of 'folder' and 'mailbox'",
    r"(period\.)?time_zone: is not valid: there is no time zone",  # the system's list
    r"(query\.)?vendor: has no letter and no digit",  # of any script: JSON Schema advises against classes of Unicode
    r".*: (the value )?is a whole number that does not fit 64 bits",  # anywhere inside a value of any shape
)
"""Problems of a request that fits the schema, each as `path: message`, from its beginning."""
TYPES = {f"/problems/{kind.name}" for kind in (*KINDS.values(), *OF_SERVER)}
MOST_RETRIES = 10


@schemathesis.check
def refusals_are_described(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if a request that fits the schema is refused for a reason that the schema could say."""
    if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        refused = response.json()
        if refused["type"] in CONTENT or all(map(is_beyond_schemas, refused.get("problems", [None]))):
            return
    positive_data_acceptance(ctx, response, case)


def is_beyond_schemas(problem: dict[str, Any] | None) -> bool:
    """Return whether no schema could describe what is wrong."""
    return problem is not None and any(
        re.match(reason, f"{problem['path']}: {problem['message']}", re.DOTALL) for reason in BEYOND_SCHEMAS
    )


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
