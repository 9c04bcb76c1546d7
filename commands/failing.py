"""What a command says when it fails in a way that we know: in plain words, without a traceback."""

from collections.abc import Sequence

from pydantic import ValidationError

from commands.client import ApiError
from embedded.processes import ProcessError
from operations.errors import OperationError
from storage.db import DATABASE_ERRORS, StorageError


def told(error: Exception) -> str | None:
    """Return what to say of an error; None for one that is a bug of ours, which must surface."""
    if isinstance(error, ValidationError):
        return "\n".join(_problem(problem["loc"], problem["msg"]) for problem in error.errors())
    if isinstance(error, DATABASE_ERRORS):
        return f"the database of DOCRAIL_DATABASE_URL: {error}"
    return str(error) if isinstance(error, (ApiError, OperationError, ProcessError, StorageError, OSError)) else None


def _problem(place: Sequence[int | str], message: str) -> str:
    """Return what is wrong with a setting, without pydantic's word for what our own checks raise."""
    return f"DOCRAIL_{str(place[0]).upper()}: {message.removeprefix('Value error, ')}"
