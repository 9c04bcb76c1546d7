"""What a command prints for an error that is not a bug: one line or a few, without a traceback."""

from collections.abc import Sequence

from pydantic import ValidationError

from docrail.adapters.postgres.pool import DATABASE_ERRORS, StorageError
from docrail.adapters.settings_file import SettingsFileError
from docrail.adapters.temporal.connection import InvalidConnection
from docrail.embedded.processes import ProcessError
from docrail.services.errors import OperationError
from docrail.transport import ApiError


def words_of(error: Exception) -> str | None:
    """Return what to print; None for a bug, which must surface."""
    if isinstance(error, ValidationError):
        return "\n".join(_problem(problem["loc"], problem["msg"]) for problem in error.errors())
    if isinstance(error, DATABASE_ERRORS):
        return f"the database of DOCRAIL_DATABASE_URL: {error}"
    return (
        str(error)
        if isinstance(
            error, (ApiError, InvalidConnection, OperationError, ProcessError, SettingsFileError, StorageError, OSError)
        )
        else None
    )


def _problem(place: Sequence[int | str], message: str) -> str:
    """Return a setting's problem, without pydantic's prefix for the errors of our own checks."""
    words = message.removeprefix("Value error, ")
    return f"DOCRAIL_{str(place[0]).upper()}: {words}" if place else f"the settings are {words}"
