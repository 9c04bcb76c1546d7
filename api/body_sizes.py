"""Define the largest body of each route: most carry a few fields, some a definition or a value."""

from collections.abc import Mapping

from starlette.routing import compile_path

from docrail.dag.values.json_values import MAX_VALUE_BYTES

MAX_JSON_BYTES = 4 * 2**20
"""A definition's text may have 3 MB, and JSON escaping lengthens it."""
VALUE_BYTES = 2 * MAX_VALUE_BYTES
"""A value may have MAX_VALUE_BYTES without whitespace."""
FIELDS_BYTES = 64 * 2**10
"""A few fields."""
BODY_BYTES = "docrail.body_bytes"
"""Under which a request's scope has the size of its body."""
CHEAP_BYTES = 8 * 2**10
"""A body of this size can be looked at twice in a few milliseconds, and has a thousand problems at most."""
UPLOADS: Mapping[str, str] = {
    "/v1/documents": "max_upload_bytes",
    "/v1/batches/{batch_id}/documents": "max_upload_bytes",
    "/v1/batches/{batch_id}/zip": "max_zip_bytes",
}
"""Routes that take files, by path: the setting that is their limit."""

MOST_BYTES: Mapping[str, int] = {
    "/v1/batches": VALUE_BYTES,
    "/v1/batches/{batch_id}/append": VALUE_BYTES,
    "/v1/callbacks/{token}": VALUE_BYTES,
    "/v1/codec/decode": MAX_JSON_BYTES,
    "/v1/codec/encode": MAX_JSON_BYTES,
    "/v1/dead-letters/{run_id}/{step_id}/resolve": MAX_JSON_BYTES,
    "/v1/definitions": MAX_JSON_BYTES,
    "/v1/definitions/plan": MAX_JSON_BYTES,
    "/v1/definitions/test": MAX_JSON_BYTES,
    "/v1/definitions/validate": MAX_JSON_BYTES,
    "/v1/documents/{document_id}/fields/{field}": VALUE_BYTES,
    "/v1/reviews/{review_id}/decision": VALUE_BYTES,
    "/v1/routing": VALUE_BYTES,
    "/v1/routing/validate": VALUE_BYTES,
    "/v1/runs": MAX_JSON_BYTES,
    "/v1/runs/{run_id}/retry": MAX_JSON_BYTES,
    "/v1/runs/{run_id}/steps/{step_id}/resolve": MAX_JSON_BYTES,
    "/v1/runs/{run_id}/waits/{step_id}": VALUE_BYTES,
    "/v1/workflow": MAX_JSON_BYTES,
    "/v1/workflow/trigger/{execution_id}": VALUE_BYTES,
}
"""By path, what is more than FIELDS_BYTES."""

_UPLOADS = tuple((compile_path(path)[0], setting) for path, setting in UPLOADS.items())
_PATTERNS = tuple((compile_path(path)[0], limit) for path, limit in MOST_BYTES.items())


def most_bytes(path: str) -> int:
    """Return the limit of a request to `path`."""
    return next((limit for pattern, limit in _PATTERNS if pattern.match(path)), FIELDS_BYTES)


def upload_setting(path: str) -> str | None:
    """Return the setting that limits the files sent to `path`; None if it takes none."""
    return next((setting for pattern, setting in _UPLOADS if pattern.match(path)), None)
