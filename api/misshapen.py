"""What is wrong with a request that the framework could not read, in words: what was found, what was expected."""

from collections.abc import Iterator
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from dag.checks.wording import describe, wording
from dag.inputs import InputProblem

UNREADABLE_BODY = "There was an error parsing the body"
"""What the framework says where reading a body's JSON went wrong in any other way than by its syntax."""

UNREADABLE_FORM = "Invalid multipart data."


def faults(error: RequestValidationError, content_type: str) -> Iterator[InputProblem]:
    """Yield each thing that is wrong: path and message, as of all refused input."""
    for fault in error.errors():
        location = [str(part) for part in fault["loc"] if part != "body"]
        if fault["type"] == "json_invalid":
            yield InputProblem("body", f"is no JSON: {fault['ctx']['error']} at character {fault['loc'][-1]}")
        elif not location and not content_type.partition(";")[0].endswith("json"):
            header = "with the header Content-Type: application/json"
            yield InputProblem("body", f"must be JSON {header}, found {content_type[:100] or 'none'}")
        else:
            yield InputProblem(".".join(location) or "body", _message(fault))


def unreadable_body(refused: HTTPException) -> str | None:
    """Return what is wrong with a body that could not be read, None if that is not what was refused."""
    match refused.__cause__:
        case RecursionError():
            return "is nested too deeply to be read"
        case UnicodeDecodeError():
            return "is no UTF-8"
        case ValueError() as error if refused.detail == UNREADABLE_BODY:
            return f"holds a number that is too long to be read: {error}"
    if refused.detail == UNREADABLE_BODY:
        return "cannot be read"
    if refused.detail == UNREADABLE_FORM:
        cause = refused.__context__.__cause__ if refused.__context__ else None
        return f"is no form that can be read: {cause or refused.detail}"
    return None


def _message(fault: Any) -> str:
    match fault["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is not known here"
        case "value_error" if "UploadFile" in fault["msg"]:
            return "must be a file: a part of the form that has a file name"
        case kind:
            return f"{wording(kind, fault.get('ctx', {}), fault['msg'])[1]}, found {describe(fault['input'])}"
