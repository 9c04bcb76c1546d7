"""What schemathesis checks in addition: a request that fits the schema is refused only for what no schema can say."""

import re
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, Response
from schemathesis.specs.openapi.checks import positive_data_acceptance

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
    r"^undo: nothing is left to undo",  # what is stored decides
    r"^expires_at: must be in the future",  # the time decides
    r"is given \d+ times",  # parts of a form with one name, which no schema can forbid
    r"^until: must be later than `since`",  # two places of one request
    r"^percent: only 'canary' takes a share",  # two places of one request
    r"^value: ",  # the field in the path decides
    r"^(steps\..*\.)?output: ",  # what is stored decides
    r"is also in .*: give it once",  # two places of one request
    r"the definition has no such (step|input)",  # what is stored decides
    r"inputs\.\w+: is required",  # what is stored decides
    r"inputs\.",  # what is stored decides
    r"until: expected a time .* after now",  # the time decides
)


@schemathesis.check
def refusals_are_described(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if a request that fits the schema is refused for a reason that the schema could say."""
    if response.status_code == 422:
        refused = response.json()
        if refused["type"] in CONTENT or any(re.search(reason, refused["detail"]) for reason in BEYOND_SCHEMAS):
            return
    positive_data_acceptance(ctx, response, case)
